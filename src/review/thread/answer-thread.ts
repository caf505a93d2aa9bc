import type { MessagePort } from 'node:worker_threads';
import { type Failure, failureOf } from '../../contract/failure.ts';
import type { Notice } from '../../contract/notice.ts';
import type {
  JudgeAnswer,
  ReviewAsset,
  ReviewData,
  ReviewGroup,
  ReviewHost,
  WantedVerdict,
} from '../../contract/review.ts';
import { isOther } from '../serve/describe-change.ts';

export type ClosingHost = ReviewHost & { close(): Promise<void> };

export function answerThread(port: MessagePort, host: ClosingHost): void {
  let sent: ReviewData | undefined;
  const answer = async ({ name, asked }: Question) => {
    switch (name) {
      case 'look': {
        const now = await host.look();
        const delta = deltaOf(sent, now);
        sent = now;
        return delta;
      }
      case 'judge':
        return host.judge(asked);
      case 'close':
        return host.close();
      default:
        return name satisfies never;
    }
  };
  const say = (said: Said) => port.postMessage(said);
  host.watch(() => say({ is: 'changed' }));
  port.on('message', async (question: Question) => {
    const { number } = question;
    try {
      say({ is: 'answer', number, answer: (await answer(question)) ?? undefined });
    } catch (error) {
      const failure = failureOf(error);
      say(failure === undefined ? { is: 'broken', number, error } : { is: 'failed', number, failure });
    }
  });
}

interface Patch<Entry> {
  length: number;
  changed: (readonly [index: number, entry: Entry])[];
}

type Fields = Omit<ReviewData, 'assets' | 'groups'>;

interface Delta {
  fields: Partial<Fields>;
  gone: string[];
  assets: Patch<ReviewAsset>;
  groups: Patch<ReviewGroup>;
}

export function deltaOf(before: ReviewData | undefined, now: ReviewData): Delta {
  const { assets, groups, ...fields } = now;
  const { assets: assetsBefore = [], groups: groupsBefore = [], ...had } = before ?? {};
  const known: { [name: string]: unknown } = had;
  const changed = Object.entries(fields).filter(([name, value]) => isOther(value, known[name]));
  return {
    fields: Object.fromEntries(changed),
    gone: Object.keys(had).filter((name) => !Object.hasOwn(fields, name)),
    assets: patchOf(assetsBefore, assets),
    groups: patchOf(groupsBefore, groups),
  };
}

export function withDelta(before: ReviewData | undefined, { fields, gone, assets, groups }: Delta): ReviewData {
  const had = Object.entries(before ?? {}).filter(([name]) => !gone.includes(name));
  return {
    ...(Object.fromEntries([...had, ...Object.entries(fields)]) as unknown as Fields),
    assets: patched(before?.assets, assets),
    groups: patched(before?.groups, groups),
  };
}

function patchOf<Entry>(before: readonly Entry[], now: readonly Entry[]): Patch<Entry> {
  const changed = [...now.entries()].filter(([index, entry]) => isOther(entry, before[index]));
  return { length: now.length, changed };
}

function patched<Entry>(before: readonly Entry[] = [], { length, changed }: Patch<Entry>): Entry[] {
  const now = before.slice(0, length);
  for (const [index, entry] of changed) now[index] = entry;
  return now;
}

export interface Questions {
  look: { asked: undefined; answer: Delta };
  judge: { asked: readonly WantedVerdict[]; answer: JudgeAnswer };
  close: { asked: undefined; answer: undefined };
}

export type Question = {
  [Name in keyof Questions]: { number: number; name: Name; asked: Questions[Name]['asked'] };
}[keyof Questions];

export type Said =
  | { is: 'answer'; number: number; answer: Questions[keyof Questions]['answer'] }
  | { is: 'failed'; number: number; failure: Failure }
  | { is: 'broken'; number: number; error: unknown }
  | { is: 'notice'; notice: Notice }
  | { is: 'changed' };
