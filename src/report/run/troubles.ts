import type { StepFinished, StepOutcome } from '../../contract/event.ts';
import { likenessOf } from '../../ground/likeness.ts';

/** Steps that failed with the same message. */
export interface TroubleGroup {
  text: string;
  outcome: StepOutcome;
  count: number;
  credits: number;
  /** Address of the latest of them, and its time in ms since 1970. */
  address: string;
  at: number;
}

export type Troubles = Map<string, TroubleGroup>;

/** Limit of groups, for a run in which every failure has another message. */
const mostGroups = 50;

/** Counts a failure. Called once each time a step ends. */
export function noteTrouble(
  troubles: Troubles,
  { address, outcome, credits, error, at }: StepFinished,
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

/** Returns whether the failure is the step's own and not of a dependency, so that each failure is printed once. */
export function isTrouble(outcome: StepOutcome): boolean {
  return outcome === 'failed' || outcome === 'refused' || outcome === 'lost' || outcome === 'unresolved';
}

/** One text for several similar ones, with `…` in place of each word that differs. */
export function sharedText(texts: readonly string[]): string {
  const [first = '', ...others] = new Set(texts);
  if (others.length === 0) return first;
  const words = first.split(' ');
  for (const other of others) {
    for (const [index, word] of other.split(' ').entries()) if (words[index] !== word) words[index] = '…';
  }
  return words.join(' ');
}

/** Returns the message without parts that name only this step and its job, so that many steps can share it. */
export function anonymousText(
  text: string,
  { address, jobId }: { address: string; jobId?: string | undefined },
): string {
  const without = jobId === undefined ? text : text.replaceAll(jobId, '…');
  return without.replaceAll(address, '…');
}
