import type { Failure } from '../../contract/failure.ts';
import type { Notice } from '../../contract/notice.ts';
import type { JudgeAnswer, ReviewAsset, ReviewData, ReviewGroup, WantedVerdict } from '../../contract/review.ts';
import { isOther } from '../serve/describe-change.ts';

/** Entries of a list that are not as they were, by their index. */
interface Patch<Entry> {
  length: number;
  changed: (readonly [index: number, entry: Entry])[];
}

type Fields = Omit<ReviewData, 'assets' | 'groups'>;

/** Differences from one look to the next. Whatever did not change does not cross to the other thread. */
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

/** Data with a delta laid over it. Whatever did not change stays the same objects. */
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

/** Questions to a host in a thread of its own, with its answers. `look`: changes since the last one. */
export interface Questions {
  look: { asked: undefined; answer: Delta };
  judge: { asked: readonly WantedVerdict[]; answer: JudgeAnswer };
  close: { asked: undefined; answer: undefined };
}

export type Question = {
  [Name in keyof Questions]: { number: number; name: Name; asked: Questions[Name]['asked'] };
}[keyof Questions];

/** Answers come in the order in which they are ready. `failure`: an error with a message for the user. */
export type Said =
  | { is: 'answer'; number: number; answer: Questions[keyof Questions]['answer'] }
  | { is: 'failed'; number: number; failure: Failure }
  | { is: 'broken'; number: number; error: unknown }
  | { is: 'notice'; notice: Notice }
  /** The next look shows something new. */
  | { is: 'changed' };
