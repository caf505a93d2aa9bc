import { groupBy } from '../../ground/values.ts';
import { isSpending } from '../actions.ts';
import type { PlanRow } from '../plan.ts';

/** Dependencies between the rows that credits are allocated to. */
export interface Hangs {
  /** Addresses that a row waits for, and names of groups with members that it needs. */
  needsOf(row: PlanRow): readonly string[];
  /** The group whose rows are useful only together. Undefined for a single row. */
  groupOf?(row: PlanRow): string | undefined;
}

/**
 * Selects the spending rows that do not fit into `cap` credits. If all rows fit, all are bought. Otherwise whole chains
 * come first: an output that nothing else needs, together with everything it still needs, before another chain begins.
 * A chain may end in a step after a pick, and credits are then kept for it. Then follow single rows in order, and groups
 * as a whole. A single row of unknown price subtracts nothing, because the ledger keeps it within the budget once its
 * price is known, but it does not begin if fewer credits are left than its estimate.
 *
 * @returns the addresses of the rows that do not fit: purchases, and rows that a gate blocks
 */
export function findUnfunded(rows: readonly PlanRow[], cap: number, hangs: Hangs): Set<string> {
  return new Funding(rows, cap, hangs).unfunded();
}

/** Returns the known or estimated cost of a row; at least 1 where the price is unknown. */
export function expectedCredits({ action, credits, price, wouldCost }: PlanRow): number {
  // A step that shares another step's job has no price.
  if (action === 'blocked') return wouldCost === undefined ? 0 : (price?.likely ?? wouldCost ?? 1);
  return credits ?? Math.max(1, price?.likely ?? 1); // I14 (list)
}

export function isLater({ blockedBy }: Pick<PlanRow, 'blockedBy'>): boolean {
  return blockedBy === 'gate';
}

class Funding {
  readonly #spending: readonly PlanRow[];
  readonly #wanted: ReadonlyMap<string, PlanRow>;
  /** The rows that spend, by group; rows without a group are under `undefined`. */
  readonly #groups: ReadonlyMap<string | undefined, readonly PlanRow[]>;
  readonly #hangs: Hangs;
  readonly #funded = new Set<string>();
  #left: number;

  constructor(rows: readonly PlanRow[], cap: number, hangs: Hangs) {
    this.#spending = rows.filter((row) => isSpending(row.action));
    const wanted = rows.filter((row) => isSpending(row.action) || isLater(row));
    this.#wanted = new Map(wanted.map((row) => [row.address, row]));
    this.#hangs = hangs;
    this.#left = cap;
    this.#groups = groupBy(this.#spending, (row) => hangs.groupOf?.(row));
  }

  unfunded(): Set<string> {
    // Possible charges are counted first, because one that does not fit may still have been charged.
    for (const row of this.#spending) {
      if (row.order?.send !== undefined && !this.#fund([row])) this.#left = 0;
    }
    this.#fund(this.#spending.filter(({ address }) => !this.#funded.has(address)));
    for (const row of this.#ends()) this.#fund(this.#chainOf(row));
    for (const row of [...this.#spending, ...[...this.#wanted.values()].filter(isLater)]) {
      if (this.#funded.has(row.address)) continue;
      const unit = isLater(row) ? [row] : this.#groupWith(row);
      if (unit[0] === row && unit.every((one) => this.#isReady(one))) this.#fund(unit);
    }
    return new Set([...this.#wanted.keys()].filter((address) => !this.#funded.has(address)));
  }

  #fund(rows: readonly PlanRow[]): boolean {
    const expected = rows.reduce((sum, row) => sum + expectedCredits(row), 0);
    if (expected > this.#left) return false;
    // Rows that are useful only together do not begin unless all of them are expected to fit.
    const isWhole = (row: PlanRow) => isLater(row) || this.#hangs.groupOf?.(row) !== undefined;
    this.#left -= rows.reduce((sum, row) => sum + (isWhole(row) ? expectedCredits(row) : (row.credits ?? 0)), 0);
    for (const row of rows) this.#funded.add(row.address);
    return true;
  }

  #groupWith(row: PlanRow): readonly PlanRow[] {
    const name = this.#hangs.groupOf?.(row);
    const group = name === undefined ? undefined : this.#groups.get(name);
    return group?.filter(({ address }) => !this.#funded.has(address)) ?? [row];
  }

  #isReady(row: PlanRow): boolean {
    return this.#hangs.needsOf(row).every((address) => !this.#wanted.has(address) || this.#funded.has(address));
  }

  #ends(): PlanRow[] {
    const groupOf = (row: PlanRow) => (isLater(row) ? undefined : this.#hangs.groupOf?.(row));
    const ends = endsOf([...this.#wanted.values()], {
      namesOf: (row) => [row.address, groupOf(row) ?? row.address],
      needsOf: (row) => this.#hangs.needsOf(row),
    });
    const byGroup = groupBy(ends, groupOf);
    return ends.filter((row) => groupOf(row) === undefined || byGroup.get(groupOf(row))?.[0] === row);
  }

  #chainOf(end: PlanRow): PlanRow[] {
    const groups = new Set<string>();
    const openGroup = (name: string | undefined) => {
      if (name === undefined || groups.has(name)) return [];
      groups.add(name);
      return this.#groups.get(name) ?? [];
    };
    return chainOf(end, {
      isTaken: ({ address }) => this.#funded.has(address),
      needsOf: (row) => [
        ...(isLater(row) ? [] : openGroup(this.#hangs.groupOf?.(row))),
        ...this.#hangs.needsOf(row).flatMap((need) => this.#wanted.get(need) ?? openGroup(need)),
      ],
    });
  }
}

export function endsOf<Item>(
  items: readonly Item[],
  { namesOf, needsOf }: { namesOf(item: Item): readonly string[]; needsOf(item: Item): readonly string[] },
): Item[] {
  const needed = new Set(items.flatMap(needsOf));
  return items.filter((item) => !namesOf(item).some((name) => needed.has(name)));
}

/** Returns an item and everything that it still needs, without items that are already in another chain. */
export function chainOf<Item>(
  end: Item,
  { needsOf, isTaken }: { needsOf(item: Item): readonly Item[]; isTaken(item: Item): boolean },
): Item[] {
  const chain = new Set<Item>();
  const open = [end];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    if (chain.has(item) || isTaken(item)) continue;
    chain.add(item);
    for (const need of needsOf(item)) open.push(need);
  }
  return [...chain];
}
