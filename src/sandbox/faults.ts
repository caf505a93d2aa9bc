import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, answerBytes, answerJson, isObject, type Json, type Reply } from './wire.ts';

const places = ['create', 'status', 'list', 'delete', 'file', 'upload', 'put', 'post'] as const;

/**
 * A scripted fault. The fault affects the `nth` matching request and the next `times - 1` matching requests.
 *
 * | on | requests | kind |
 * |---|---|---|
 * | `create` | all create requests except posts | the kind of the job |
 * | `status` | one job, synced or not | the kind of the job |
 * | `list` | lists of jobs, uploads, voices, accounts, models | the kind, `upload`, `voice`, `account`, `model` |
 * | `delete` | deletions | the kind of the job |
 * | `file` | outputs, samples and uploaded files | the kind of the job, `sample`, `upload` |
 * | `upload` | below `/uploads`, but not the list | `upload` |
 * | `put` | a signed URL | `upload` |
 * | `post` | a post is created | `post` |
 */
export interface Fault {
  readonly on: (typeof places)[number];
  readonly kind?: string;
  /** Number of the first affected request among the matching requests, from 1. Defaults to 1. */
  readonly nth?: number;
  /** Number of consecutive matching requests that are affected. Defaults to 1. */
  readonly times?: number;
  /**
   * Affects only requests whose text contains this string. The text is the body of a create request or post; the job's
   * body for a status request, deletion or output; path and query of a list; path and body of an upload; the blob's
   * name for a PUT or an uploaded file.
   */
  readonly match?: string;
  readonly do: FaultAction;
}

/** `booked`: the sandbox executes the request, and the fault affects only the answer. */
export type FaultAction =
  | { type: 'status'; status: number; body?: Json; headers?: Record<string, string>; booked?: boolean }
  | { type: 'reset'; booked?: boolean }
  | { type: 'hang'; booked?: boolean }
  /** Answers with a login page and status 200. */
  | { type: 'html'; booked?: boolean }
  /** Announces the correct length of the answer, sends this many bytes of it and closes the connection. */
  | { type: 'truncate'; bytes: number }
  /** Waits in real time before it handles the request. */
  | { type: 'delay'; ms: number }
  /** Handles the request, then sends this JSON as the answer. In its strings, `{id}` stands for the job's ID. */
  | { type: 'answer'; body: Json }
  | { type: 'slow'; bytesPerSecond: number };

const fieldsOf: { readonly [type in FaultAction['type']]: readonly string[] } = {
  status: ['status', 'body', 'headers', 'booked'],
  reset: ['booked'],
  hang: ['booked'],
  html: ['booked'],
  truncate: ['bytes'],
  delay: ['ms'],
  answer: ['body'],
  slow: ['bytesPerSecond'],
};

export class FaultScript {
  private readonly faults: { readonly fault: Fault; seen: number }[] = [];

  add(faults: readonly Fault[]): void {
    for (const fault of faults) this.faults.push({ fault, seen: 0 });
  }

  clear(): void {
    this.faults.length = 0;
  }

  /** Counts the request for every matching fault. Returns the action of the first fault that is due. */
  next(on: Fault['on'], about: { readonly kind: string; readonly text: string }): FaultAction | undefined {
    let due: FaultAction | undefined;
    for (const entry of this.faults) {
      const { kind, nth = 1, times = 1, match } = entry.fault;
      if (entry.fault.on !== on) continue;
      if (kind !== undefined && kind !== about.kind) continue;
      if (match !== undefined && !about.text.includes(match)) continue;
      entry.seen += 1;
      if (due === undefined && entry.seen >= nth && entry.seen < nth + times) due = entry.fault.do;
    }
    return due;
  }
}

export function readFaults(path: string): Fault[] {
  let list: unknown;
  try {
    list = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!Array.isArray(list)) throw new Error(`${path}: expected a list of faults`);
  return list.map((item: unknown, index) => {
    const problem = findFaultProblem(item);
    if (problem !== undefined) throw new Error(`${path}: fault ${index + 1}: ${problem}`);
    return item as Fault;
  });
}

function findFaultProblem(fault: unknown): string | undefined {
  if (!isObject(fault)) return 'expected an object';
  const unknown = Object.keys(fault).find((name) => !['on', 'kind', 'nth', 'times', 'match', 'do'].includes(name));
  if (unknown !== undefined) return `${unknown} is not a field of a fault; valid: on, kind, nth, times, match, do`;
  if (!places.some((place) => place === fault.on)) return `on must be one of ${places.join(', ')}`;
  const action = fault.do;
  if (!isObject(action) || typeof action.type !== 'string' || !Object.hasOwn(fieldsOf, action.type)) {
    return `do.type must be one of ${Object.keys(fieldsOf).join(', ')}`;
  }
  const fields = fieldsOf[action.type as FaultAction['type']];
  const odd = Object.keys(action).find((name) => name !== 'type' && !fields.includes(name));
  if (odd !== undefined) return `do.${odd} is not a field of the type ${action.type}, which has ${fields.join(', ')}`;
  const needed = { status: 'status', truncate: 'bytes', delay: 'ms', slow: 'bytesPerSecond' }[action.type];
  if (needed !== undefined && typeof action[needed] !== 'number') return `do.${needed} must be a number`;
  if (action.type === 'answer' && action.body === undefined) return 'do.body is missing';
  for (const name of ['nth', 'times']) {
    const value = fault[name];
    if (value !== undefined && !(typeof value === 'number' && value >= 1)) return `${name} must be a number from 1 on`;
  }
  for (const name of ['kind', 'match']) {
    if (fault[name] !== undefined && typeof fault[name] !== 'string') return `${name} must be a string`;
  }
  return undefined;
}

export interface Handled {
  readonly answer: Answer;
  readonly jobId?: string;
}

/** Leaves an answer unchanged if it already refuses the request. */
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
  const message = `A fault of the sandbox set the answer ${status}.`;
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
