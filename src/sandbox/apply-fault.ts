import { setTimeout as wait } from 'node:timers/promises';
import type { FaultAction } from './faults.ts';
import { type Answer, answerBytes, answerJson, isObject, type Json, type Reply } from './wire.ts';

export interface Handled {
  readonly answer: Answer;
  readonly jobId?: string;
}

/** Handles a request with a fault. An answer that refuses the request is not replaced. */
export async function applyFault(
  action: FaultAction | undefined,
  handle: () => Handled | Promise<Handled>,
): Promise<Reply> {
  if (action === undefined) return (await handle()).answer;
  switch (action.type) {
    case 'delay':
      await wait(action.ms);
      return (await handle()).answer;
    case 'answer': {
      const { answer, jobId } = await handle();
      return isRefusal(answer) ? answer : answerJson(200, fillIn(action.body, jobId ?? ''));
    }
    case 'truncate':
      return { ...(await handle()).answer, delivery: { type: 'cut', bytes: action.bytes } };
    case 'slow':
      return { ...(await handle()).answer, delivery: { type: 'paced', bytesPerSecond: action.bytesPerSecond } };
    case 'status':
    case 'html':
    case 'reset':
    case 'hang': {
      if (action.booked === true) {
        const { answer } = await handle();
        if (isRefusal(answer)) return answer;
      }
      return replacementFor(action);
    }
    default:
      return action satisfies never;
  }
}

function replacementFor(action: FaultAction & { type: 'status' | 'html' | 'reset' | 'hang' }): Reply {
  switch (action.type) {
    case 'status':
      return answerStatus(action.status, action.body, action.headers ?? {});
    case 'html':
      return answerBytes(200, { 'content-type': 'text/html; charset=utf-8' }, Buffer.from('<html>login</html>'));
    case 'reset':
      return { type: 'reset' };
    case 'hang':
      return { type: 'hang', abandoned: () => undefined };
    default:
      return action satisfies never;
  }
}

function answerStatus(status: number, body: Json | undefined, headers: Readonly<Record<string, string>>): Answer {
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  if (typeof body === 'string') {
    return answerBytes(status, { 'content-type': 'text/plain; charset=utf-8', ...named }, Buffer.from(body));
  }
  const message = `The sandbox was set to answer ${status}.`;
  const problem = { success: false, error: 'Scripted fault', code: 'scripted_fault', message };
  return answerJson(status, body ?? problem, named);
}

function isRefusal(answer: Answer): boolean {
  return answer.status >= 300;
}

function fillIn(value: Json, id: string): Json {
  if (typeof value === 'string') return value.replaceAll('{id}', id);
  if (Array.isArray(value)) return value.map((item) => fillIn(item, id));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillIn(item, id)]));
}
