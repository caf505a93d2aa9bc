import type { ReviewData, ReviewGroup } from '../contract/review.ts';
import { call } from '../ground/advice.ts';
import { isSpending } from '../plan/actions.ts';
import type { PlanRow } from '../plan/plan.ts';
import type { Paste } from '../report/advice-text.ts';
import { countOf } from '../report/numbers.ts';

/** Summarizes what there is to review: `12 gates are open, 48 outputs to look at`. */
export function tellReview(data: ReviewData): string {
  const look = `${countOf(data.assets.filter(({ files }) => files.length > 0).length, 'output')} to look at`;
  const gates = tellGates(data, '');
  return gates === undefined ? `${look}; no task has a gate, so there is nothing to decide` : `${gates}, ${look}`;
}

/** Summarizes the verdicts of a session and the next command. Ends with a line feed. */
export function tellReviewed(before: ReviewData, now: ReviewData, paste: Paste): string {
  const earlier = new Map(before.assets.map(({ address, job, verdict }) => [address, `${job} ${verdict?.is}`]));
  const changed = now.assets.filter(({ address, job, verdict }) => earlier.get(address) !== `${job} ${verdict?.is}`);
  const count = (is: string) => changed.filter(({ verdict }) => verdict?.is === is).length;
  const [picked, rejected] = [count('picked'), count('rejected')];
  const gates = tellGates(now, 'still ');
  const next = picked + rejected > 0 ? `  then: ${paste(call('apply'))}\n` : '';
  return `${[`picked ${picked}`, `rejected ${rejected}`, ...(gates === undefined ? [] : [gates])].join(', ')}\n${next}`;
}

/**
 * Describes what a run would buy now, with its command. Undefined if there is nothing to buy, or a decision is open.
 */
export function tellNext(
  { groups, assets }: Pick<ReviewData, 'groups' | 'assets'>,
  rows: readonly Pick<PlanRow, 'action'>[],
  paste: Paste,
): string | undefined {
  const steps = rows.filter(({ action }) => isSpending(action)).length;
  const isDecided = groups.some(({ gate }) => gate?.state === 'decided');
  const isOpen = openGates({ groups, assets }).some(({ gate }) => gate?.state !== 'rejected');
  if (steps === 0 || !isDecided || isOpen) return undefined;
  return `${countOf(steps, 'step')} can be bought now: ${paste(call('apply'))}`;
}

/** Describes the open gates; those without an output to see do not count. Undefined if there are no gates. */
function tellGates({ groups, assets }: ReviewData, still: string): string | undefined {
  const rejected = groups.filter(({ gate }) => gate?.state === 'rejected').length;
  const open = openGates({ groups, assets }).length - rejected;
  const lost = rejected === 0 ? '' : `, all outputs of ${countOf(rejected, 'group')} are rejected`;
  if (open > 0) return `${countOf(open, 'gate')} ${open === 1 ? 'is' : 'are'} ${still}open${lost}`;
  if (groups.filter(isUndecided).length > rejected) return `what the open gates ask about is not bought yet${lost}`;
  return groups.some(({ gate }) => gate !== undefined) ? `every gate is decided${lost}` : undefined;
}

function openGates({ groups, assets }: Pick<ReviewData, 'groups' | 'assets'>): ReviewGroup[] {
  const isReady = ({ members }: ReviewGroup) => members.some((index) => assets[index]?.isJudged === true);
  return groups.filter((group) => isUndecided(group) && isReady(group));
}

function isUndecided({ gate }: ReviewGroup): boolean {
  return gate !== undefined && gate.state !== 'decided';
}
