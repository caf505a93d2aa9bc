import { defined } from '../../ground/values.ts';
import { isSpending, waitsFor } from '../actions.ts';
import { withholdPosts } from '../consent.ts';
import { type Plan, type PlanRow, reasonOf, rowId, type StepOrder } from '../plan.ts';
import { blocked, untilStable } from '../rows/draft.ts';
import { sumAfterPicks, sumAgain } from '../sum-up.ts';

interface OwnSteps {
  begun(address: string): StepOrder | undefined;
  makes(order: StepOrder): boolean;
  covers(row: PlanRow): boolean;
}

export interface Added {
  rows: PlanRow[];
  left: PlanRow[];
  outdated: PlanRow[];
}

/**
 * Finds plan rows that a run may add: rows that waited at gates when the plan was approved. `now`: a plan made during
 * the run. The approval must cover each purchase, and the price must not be higher. A post needs a separate consent,
 * because its content was unknown at approval.
 */
export function findAdded(agreed: Plan, now: Plan, own: OwnSteps): Added {
  const before = waitingRows(agreed);
  const found: Added = { rows: [], left: [], outdated: [] };
  const { rows } = withholdPosts(now);
  const byAddress = new Map(rows.map((row) => [rowId(row), row]));
  const candidates = new Map<string, PlanRow>();
  for (const row of rows) {
    const { address, order, blockedBy } = row;
    const waited = before.get(address);
    // An order that only settles an earlier create request was in the plan from the beginning.
    if (waited === undefined || order?.asksOnly === true) continue;
    const begun = own.begun(address);
    if (begun !== undefined) {
      if (order !== undefined && isSpending(row.action) && begun.fingerprint !== order.fingerprint) {
        found.outdated.push(row);
      }
    } else if (order === undefined) {
      if (blockedBy === 'consent') found.left.push(row);
    } else {
      const isAgreed = own.covers(row); // I27 (run)
      if (isAgreed) candidates.set(address, row);
      else found.left.push(leftFor(row, describeUnnamed(row, waited)));
    }
  }
  dropUnmet(candidates, { byAddress, own, found });
  found.rows = [...candidates.values()];
  return found;
}

/**
 * Finds the approved purchases that use an output whose pick was removed during the run, and their dependents. The run
 * still settles create requests of earlier runs. `isOver`: returns whether an order has started or ended.
 */
export function findDropped(agreed: Plan, now: Plan, isOver: (address: string) => boolean): Set<string> {
  const latest = new Map(now.rows.map((row) => [rowId(row), row]));
  const unwanted = new Set<string>();
  untilStable(unwanted, () => {
    for (const { address, action, order } of agreed.rows) {
      if (order === undefined || order.send !== undefined || unwanted.has(address) || isOver(address)) continue;
      const isChanged = isSpending(action) && isOutdated(order, latest.get(address));
      const needs = order.jobId === undefined ? waitsFor(order) : [];
      if (isChanged || needs.some((need) => unwanted.has(need))) unwanted.add(address); // I27 (taken back)
    }
  });
  return unwanted;
}

function isOutdated({ fingerprint }: StepOrder, now: PlanRow | undefined): boolean {
  if (now?.order !== undefined) return now.order.fingerprint !== fingerprint;
  if (now?.reason.code === 'rejected' || now?.blockedBy === 'gate') return true;
  return now?.action === 'keep' && now.unneeded !== true;
}

export function waitingRows({ rows }: Plan): Map<string, PlanRow> {
  return new Map(rows.flatMap((row) => (row.blockedBy === 'gate' ? [[row.address, row] as const] : [])));
}

function dropUnmet(
  candidates: Map<string, PlanRow>,
  { byAddress, own, found }: { byAddress: ReadonlyMap<string, PlanRow>; own: OwnSteps; found: Added },
): void {
  untilStable(candidates, () => {
    for (const [address, row] of candidates) {
      const unmet = (row.order === undefined ? [] : waitsFor(row.order)).find((need) => {
        const order = byAddress.get(need)?.order;
        return order !== undefined && !candidates.has(need) && !own.makes(order); // I27 (made)
      });
      if (unmet === undefined) continue;
      candidates.delete(address);
      found.left.push(leftFor(row, { by: 'gate', text: `needs ${unmet}, which the next run creates` }));
    }
  });
}

interface Why {
  by: 'budget' | 'gate';
  text: string;
}

const lost: Why = { by: 'gate', text: 'an input of this step is no longer picked; the next run redoes this step' };

function describeUnnamed({ credits, order }: PlanRow, { wouldCost }: PlanRow): Why {
  const most = wouldCost ?? null;
  const price = credits ?? order?.price.high ?? null;
  if (most !== null && (price === null || price > most)) {
    const costs = price === null ? 'the current price is unknown' : `this step now costs ${price}`;
    return { by: 'budget', text: `${costs}, and the plan allows ${most} at most` };
  }
  return { by: 'gate', text: 'the approved plan does not cover the current request, which the next plan shows' };
}

function leftFor(row: PlanRow, { by, text }: Why): PlanRow {
  return blocked(row, by, reasonOf(by, text));
}

/**
 * Returns the plan as the run executed it. `now` and `found`: the state at the end of the run. `took`: added rows by
 * address. `unwanted`: addresses of dropped purchases.
 */
export function withAdded(
  agreed: Plan,
  now: Plan,
  {
    found,
    took,
    unwanted,
  }: { found: Pick<Added, 'left'>; took: ReadonlyMap<string, PlanRow>; unwanted: ReadonlySet<string> },
): Plan {
  const latest = new Map([...now.rows, ...found.left].map((row) => [rowId(row), row]));
  const rows = agreed.rows.map((row) => {
    const later = latest.get(rowId(row));
    if (unwanted.has(rowId(row))) {
      return later === undefined || later.order !== undefined ? leftFor(row, lost) : later;
    }
    if (row.blockedBy !== 'gate') return row;
    // A row with an order in the last plan was not executed: the next run executes the order.
    return took.get(row.address) ?? (later?.order === undefined ? later : row) ?? row;
  });
  const { afterPicks: _afterPicks, fit: _fit, ...totals } = agreed.totals;
  const { gates: _gates, ...plan } = agreed;
  return {
    ...plan,
    rows,
    ...defined({ gates: now.gates }),
    totals: { ...sumAgain(totals, rows), ...defined({ afterPicks: sumAfterPicks(rows) }) },
  };
}
