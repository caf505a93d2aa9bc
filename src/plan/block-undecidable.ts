import { isSpending } from './actions.ts';
import type { Draft } from './draft.ts';
import { reasonOf } from './reason.ts';
import type { Situation } from './situation.ts';
import { describeUnknown, leftOpen } from './unknown-decisions.ts';

/**
 * Blocks whatever would be bought or posted where people decided something that only a newer version knows: it may be a
 * refusal. What is paid is still collected, and bought again by nobody.
 */
export function blockUndecidable(draft: Draft, { matches, lock }: Pick<Situation, 'matches' | 'lock'>): void {
  const unknown = new Map(
    matches.flatMap(({ step, record, movedFrom = step.address }) => {
      const why = describeUnknown(record?.decisions) ?? describeUnknown(lock.steps.get(movedFrom)?.decisions);
      return why === undefined ? [] : [[step.address, why] as const];
    }),
  );
  if (unknown.size === 0) return;
  for (const [address, why] of unknown) {
    const row = draft.at(address);
    if (row?.order === undefined) continue;
    if (row.order.send !== undefined) draft.put(leftOpen(row, why));
    else if (isSpending(row.action))
      draft.block(row, 'newer', reasonOf('unknown-decision', why)); // I42
    else if (row.order.retries !== undefined) {
      delete row.order.retries;
      delete row.mayRetry;
    }
  }
}
