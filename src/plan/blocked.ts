import type { Reason } from './plan.generated.ts';
import type { BlockedRow, PlanRow, RowFacts } from './plan.ts';

/** Returns what stays true of a step for which nothing is done. */
export function lastingFacts(row: PlanRow): RowFacts {
  const { address, task, kind, reason } = row;
  const facts: RowFacts = { address, task, kind, reason };
  if (row.key !== undefined) facts.key = row.key;
  if (row.tags !== undefined) facts.tags = row.tags;
  if (row.send !== undefined) facts.send = row.send;
  if (row.jobId !== undefined) facts.jobId = row.jobId;
  if (row.output !== undefined) facts.output = row.output;
  if (row.pinned !== undefined) facts.pinned = row.pinned;
  if (row.accepted !== undefined) facts.accepted = row.accepted;
  if (row.wouldCost !== undefined) facts.wouldCost = row.wouldCost;
  if (row.changedSince !== undefined) facts.changedSince = row.changedSince;
  return facts;
}

/** The row of a step that would be bought, but for what is in the way. */
export function blocked(row: PlanRow, blockedBy: BlockedRow['blockedBy'], reason: Reason): BlockedRow {
  const held: BlockedRow = { ...lastingFacts(row), action: 'blocked', blockedBy, reason, credits: 0 };
  if (blockedBy === 'budget' && row.credits !== 0) held.wouldCost = row.credits;
  return held;
}
