import type { RunEvent, StepOutcome } from '../../contract/event.ts';
import { anonymousText } from '../anonymous-text.ts';

/** Steps that failed with the same words. */
export interface TroubleGroup {
  text: string;
  outcome: StepOutcome;
  count: number;
  /** Credits charged for them. */
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
  const text = anonymousText(error ?? '', { address, ...(jobId !== undefined && { jobId }) });
  const name = `${outcome} ${text}`;
  const before = troubles.get(name) ?? { count: 0, credits: 0 };
  troubles.delete(name);
  const charged = before.credits + (credits ?? 0);
  const group = { text, outcome, count: before.count + 1, credits: charged, address, at: Date.parse(at) };
  troubles.set(name, group);
  const [oldest] = troubles.keys();
  if (troubles.size > mostGroups && oldest !== undefined) troubles.delete(oldest);
  return group;
}

/** Whether it is a trouble of the step, and not of what it needs: a failure is told once. */
export function isTrouble(outcome: StepOutcome): boolean {
  return outcome === 'failed' || outcome === 'refused' || outcome === 'lost' || outcome === 'unresolved';
}
