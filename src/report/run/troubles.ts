import type { RunEvent, StepOutcome } from '../../contract/event.ts';
import { likenessOf } from '../../ground/likeness.ts';

/** Steps that failed with the same words. */
export interface TroubleGroup {
  text: string;
  outcome: StepOutcome;
  count: number;
  credits: number;
  /** The last of them, and when it was, in ms since 1970. */
  address: string;
  at: number;
}

/** Troubles by their words, the latest at the end. */
export type Troubles = Map<string, TroubleGroup>;

/** Limits what is kept of a run in which everything fails with other words. */
const mostGroups = 50;

/** Counts a failure, once for each end of a step. */
export function noteTrouble(
  troubles: Troubles,
  { address, outcome, credits, error, at }: Extract<RunEvent, { event: 'step-finished' }>,
  jobId: string | undefined,
): TroubleGroup | undefined {
  if (!isTrouble(outcome)) return undefined;
  const text = anonymousText(error ?? '', { address, jobId });
  const name = `${outcome} ${likenessOf(text)}`;
  const before = troubles.get(name) ?? { text, count: 0, credits: 0 };
  troubles.delete(name);
  const charged = before.credits + (credits ?? 0);
  const shared = sharedText([before.text, text]);
  const group = { text: shared, outcome, count: before.count + 1, credits: charged, address, at: Date.parse(at) };
  troubles.set(name, group);
  const [oldest] = troubles.keys();
  if (troubles.size > mostGroups && oldest !== undefined) troubles.delete(oldest);
  return group;
}

/** Whether it is a trouble of the step itself, not of a dependency: a failure is printed once. */
export function isTrouble(outcome: StepOutcome): boolean {
  return outcome === 'failed' || outcome === 'refused' || outcome === 'lost' || outcome === 'unresolved';
}

/** One text for several that are alike: in the place of each word in which they differ stands `…`. */
export function sharedText(texts: readonly string[]): string {
  const [first = '', ...others] = new Set(texts);
  if (others.length === 0) return first;
  const words = first.split(' ');
  for (const other of others) {
    for (const [index, word] of other.split(' ').entries()) if (words[index] !== word) words[index] = '…';
  }
  return words.join(' ');
}

/** The sentence without what names only this step and its job, so that many steps can share it. */
export function anonymousText(
  text: string,
  { address, jobId }: { address: string; jobId?: string | undefined },
): string {
  const without = jobId === undefined ? text : text.replaceAll(jobId, '…');
  return without.replaceAll(address, '…');
}
