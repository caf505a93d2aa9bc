import type { Lock } from '../lock/record.ts';
import { isSpending } from './actions.ts';
import { block } from './block.ts';
import type { Match } from './find-purchases.ts';
import type { PlanRow } from './plan.ts';
import { reasonOf } from './reason.ts';
import { describeUnknown, leaveOpen } from './unknown-decisions.ts';

/**
 * Blocks whatever would be bought or posted where people decided something that only a newer version knows: it may be a
 * refusal. What is paid is still collected, and bought again by nobody.
 */
export function blockUndecidable(rows: readonly PlanRow[], matches: readonly Match[], lock: Lock): void {
  const unknown = new Map(
    matches.flatMap(({ step, record, movedFrom = step.address }) => {
      const why = describeUnknown(record?.decisions) ?? describeUnknown(lock.steps.get(movedFrom)?.decisions);
      return why === undefined ? [] : [[step.address, why] as const];
    }),
  );
  if (unknown.size === 0) return;
  for (const row of rows) {
    const why = unknown.get(row.address);
    if (why === undefined) continue;
    if (row.order?.send !== undefined) leaveOpen(row, why);
    else if (isSpending(row.action))
      block(row, 'newer', reasonOf('unknown-decision', why)); // I42
    else if (row.order?.retries !== undefined) {
      delete row.order.retries;
      delete row.mayRetry;
    }
  }
}
