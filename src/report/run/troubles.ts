import type { StepOutcome } from '../../contract/event.ts';

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
