import type { ReviewData, ReviewGroup } from '../contract/review.ts';
import { call } from '../plan/advice.ts';
import type { Paste } from '../report/advice-text.ts';
import { countOf } from '../report/numbers.ts';

/** What there is to do: `12 gates are open, 48 outputs to look at`. */
export function tellReview({ groups, assets }: ReviewData): string {
  const open = groups.filter((group) => isOpen(group) && group.members.some((index) => assets[index]?.isJudged));
  const there = assets.filter(({ files }) => files.length > 0);
  const look = `${countOf(there.length, 'output')} to look at`;
  if (groups.every(({ gate }) => gate === undefined))
    return `${look}; no task has a gate, so there is nothing to decide`;
  if (open.length === 0 && groups.some(isOpen)) return `what the gates ask about is not bought yet, ${look}`;
  return open.length === 0 ? `every gate is decided, ${look}` : `${tellOpen(open.length)}, ${look}`;
}

/** What became of it, and what comes next. Ends with a line feed. */
export function tellReviewed(before: ReviewData, now: ReviewData, paste: Paste): string {
  const earlier = new Map(before.assets.map(({ address, job, verdict }) => [address, `${job} ${verdict?.is}`]));
  const changed = now.assets.filter(({ address, job, verdict }) => earlier.get(address) !== `${job} ${verdict?.is}`);
  const count = (is: string) => changed.filter(({ verdict }) => verdict?.is === is).length;
  const [picked, rejected] = [count('picked'), count('rejected')];
  const open = now.groups.filter(isOpen).length;
  const left = now.groups.every(({ gate }) => gate === undefined)
    ? ''
    : `, ${open === 0 ? 'every gate is decided' : tellOpen(open, 'still ')}`;
  const next = picked + rejected > 0 ? `  then: ${paste(call('apply'))}\n` : '';
  return `picked ${picked}, rejected ${rejected}${left}\n${next}`;
}

function isOpen({ gate }: ReviewGroup): boolean {
  return gate !== undefined && gate.state !== 'decided';
}

function tellOpen(count: number, still = ''): string {
  return `${countOf(count, 'gate')} ${count === 1 ? 'is' : 'are'} ${still}open`;
}
