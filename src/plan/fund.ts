import { isSpending } from './actions.ts';
import type { PlanRow } from './plan.ts';

/**
 * Selects the spending rows that do not fit into `cap` credits. Whole chains come first: an output that people want,
 * together with everything it still needs, before another chain is started; then single rows in order. A row of unknown
 * price takes nothing off – the ledger holds it to the budget when its price is known –, and does not begin where less is
 * left than it is expected to cost.
 *
 * @param needsOf the addresses that a row waits for
 * @returns the addresses of the rows that do not fit
 */
export function findUnfunded(
  rows: readonly PlanRow[],
  cap: number,
  needsOf: (row: PlanRow) => readonly string[],
): Set<string> {
  const spending = new Map(rows.filter((row) => isSpending(row.action)).map((row) => [row.address, row]));
  const funded = new Set<string>();
  let left = cap;
  const fund = (chain: PlanRow[]) => {
    const expected = chain.reduce((sum, row) => sum + expectedCredits(row), 0);
    if (expected > left) return;
    left -= chain.reduce((sum, row) => sum + (row.credits ?? 0), 0);
    for (const row of chain) funded.add(row.address);
  };
  // Possible charges come first; one that does not fit may still have been charged.
  for (const row of spending.values()) {
    if (row.order?.send === undefined) continue;
    fund([row]);
    if (!funded.has(row.address)) left = 0;
  }
  for (const row of ends(spending, needsOf)) fund(chainOf(row, spending, funded, needsOf));
  for (const row of spending.values()) {
    const ready = needsOf(row).every((address) => !spending.has(address) || funded.has(address));
    if (!funded.has(row.address) && ready) fund([row]);
  }
  return new Set([...spending.keys()].filter((address) => !funded.has(address)));
}

/** Returns what a row costs, or is said to cost: at least something, where nobody knows. */
export function expectedCredits({ credits, price }: Pick<PlanRow, 'credits' | 'price'>): number {
  return credits ?? Math.max(1, price?.likely ?? 1); // I14 (list)
}

/** Finds rows that no other spending row waits for. */
function ends(spending: Map<string, PlanRow>, needsOf: (row: PlanRow) => readonly string[]): PlanRow[] {
  const needed = new Set<string>();
  for (const row of spending.values()) for (const address of needsOf(row)) needed.add(address);
  return [...spending.values()].filter((row) => !needed.has(row.address));
}

/** Collects a row and all spending rows it waits for that are not funded yet. */
function chainOf(
  end: PlanRow,
  spending: Map<string, PlanRow>,
  funded: ReadonlySet<string>,
  needsOf: (row: PlanRow) => readonly string[],
): PlanRow[] {
  const chain = new Map<string, PlanRow>();
  const open = [end];
  for (let row = open.pop(); row !== undefined; row = open.pop()) {
    if (chain.has(row.address) || funded.has(row.address)) continue;
    chain.set(row.address, row);
    for (const address of needsOf(row)) {
      const need = spending.get(address);
      if (need !== undefined) open.push(need);
    }
  }
  return [...chain.values()];
}
