import { groupBy } from '../../ground/values.ts';
import { isSpending, waitsFor } from '../actions.ts';
import type { PlanRow, PlanTotals } from '../plan.ts';
import { reasonOf } from '../reason.ts';
import { blocked, type Draft } from '../rows/draft.ts';
import type { Situation } from '../situation/situation.ts';

interface Hangs {
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
function expectedCredits({ action, credits, price, wouldCost }: PlanRow): number {
  // A step that shares another step's job has no price.
  if (action === 'blocked') return wouldCost === undefined ? 0 : (price?.likely ?? wouldCost ?? 1);
  return credits ?? Math.max(1, price?.likely ?? 1); // I14 (list)
}

function isLater({ blockedBy }: Pick<PlanRow, 'blockedBy'>): boolean {
  return blockedBy === 'gate';
}

class Funding {
  readonly #spending: readonly PlanRow[];
  readonly #wanted: ReadonlyMap<string, PlanRow>;
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
    if (sumExpected(rows) > this.#left) return false;
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

type Fit = NonNullable<PlanTotals['fit']>;

/**
 * Blocks the rows that do not fit into the remaining budget or the limits of this run. Possible charges are counted
 * first, because one that does not fit may still be charged. Returns how everything fits into the budget, if there is
 * one.
 */
export function blockUnfunded(
  draft: Draft,
  limits: Parameters<typeof capsOf>[0],
  situation: Pick<Situation, 'byAddress' | 'gateOf'>,
): Fit | undefined {
  const tightest = tightestCap(capsOf(limits));
  if (tightest === undefined) return undefined;
  const { name: code, left: cap } = tightest;
  const isOfRun = code !== 'budget';
  const limit = { budget: 'the budget', 'run-limit': '--max-credits', limit: limitName(limits.limit) }[code];
  const tooDear = (row: PlanRow, kept = '') => `${limit} is not enough: this step costs ${costText(row)}${kept}`;
  let asked = 0;
  draft.asks = draft.asks.map((row) => {
    const isTooDear = expectedCredits(row) > Math.max(0, cap - asked);
    asked += row.credits ?? 1;
    return isTooDear ? blocked(row, 'budget', reasonOf(code, `${row.reason.text}; ${tooDear(row)}`)) : row;
  });
  const hangs = hangsOf(situation);
  const wanted = draft.inRun.filter((row) => isSpending(row.action) || isLater(row));
  // Purchases after a pick are for another run, so the limits of this run do not apply to them.
  const inReach = isOfRun ? wanted.filter((row) => !isLater(row)) : wanted;
  const unfunded = findUnfunded(inReach, Math.max(0, cap - asked), hangs);
  const kept = keptText(inReach.filter((row) => isLater(row) && !unfunded.has(row.address)));
  for (const row of wanted) {
    if (isLater(row) || !unfunded.has(row.address) || !isSpending(row.action)) continue;
    const { action, order } = row;
    const needed = order === undefined ? undefined : waitsFor(order).find((address) => unfunded.has(address));
    const text = row.credits === 0 ? `${limit} is not enough for ${needed ?? 'what it needs'}` : tooDear(row, kept);
    draft.put({ ...blocked(row, 'budget', reasonOf(code, text)), would: { action, reason: row.reason } });
  }
  if (limits.budget === undefined || wanted.length === 0) return undefined;
  return fitOf(wanted, isOfRun ? new Set() : unfunded, { left: Math.max(0, limits.budget - asked), hangs });
}

/** Blocks the rows that were beyond a limit when the user agreed to the plan. */
export function leaveOut(draft: Draft, addresses: ReadonlySet<string>): void {
  for (const row of draft.inRun) {
    const { address, action, reason } = row;
    if (!addresses.has(address) || !isSpending(action) || row.order?.send !== undefined) continue;
    const text = 'MEDIABATCH_LIMIT was not enough when the plan was made';
    draft.put({ ...blocked(row, 'budget', reasonOf('limit', text)), would: { action, reason } });
  }
}

function keptText(later: readonly PlanRow[]): string {
  const rows = later.filter((row) => expectedCredits(row) > 0);
  const [first] = rows;
  if (first === undefined) return '';
  const credits = sumExpected(rows);
  const whom = rows.length === 1 ? `${first.address}, which waits` : `${rows.length} steps that wait`;
  return `, and ${credits} of the remaining credits ${credits === 1 ? 'is' : 'are'} reserved for ${whom} for a pick`;
}

function sumExpected(rows: readonly PlanRow[]): number {
  return rows.reduce((sum, row) => sum + expectedCredits(row), 0);
}

function isUnpriced({ action, credits, price, wouldCost }: PlanRow): boolean {
  return (action === 'blocked' ? wouldCost : credits) === null && price?.likely === undefined;
}

function costText({ credits, price }: PlanRow): string {
  if (credits !== null) return `${credits}`;
  return price?.likely === undefined ? 'an unknown number' : `≈ ${price.likely}`;
}

/**
 * Relates rows for funding: the steps of an open gate are useful only together, and steps behind it need some of them.
 */
function hangsOf({ byAddress, gateOf }: Pick<Situation, 'byAddress' | 'gateOf'>): Hangs {
  return {
    needsOf(row) {
      if (row.order !== undefined) return waitsFor(row.order);
      const { needs = [], waits = [] } = byAddress.get(row.address)?.step ?? {};
      return waits.length === 0 ? needs : [...needs, ...waits];
    },
    groupOf({ address }) {
      const gate = gateOf.get(address);
      return gate === undefined || gate.state.is === 'decided' ? undefined : gate.name;
    },
  };
}

function fitOf(
  wanted: readonly PlanRow[],
  unfunded: ReadonlySet<string>,
  { left, hangs }: { left: number; hangs: Hangs },
): Fit {
  const later = wanted.filter(isLater);
  const now = wanted.filter((row) => !isLater(row));
  const heldBack = now.filter(({ address }) => unfunded.has(address));
  const missing = Math.max(0, Math.ceil(sumExpected(wanted) - left));
  const room = Math.max(0, left - (sumExpected(now) - sumExpected(heldBack)));
  const notCarried = findNotCarried(later, heldBack, { room, hangs });
  const isShort = heldBack.length > 0 || sumExpected(now) > left;
  const carries = isShort ? 'part' : notCarried.size > 0 ? 'now' : wanted.some(isUnpriced) ? 'unknown' : 'all';
  const afterPicks = [...groupBy(later, ({ task }) => task)].map(([task, own]) => ({
    ...{ task, steps: own.length, carried: own.filter(({ address }) => !notCarried.has(address)).length },
  }));
  const kept =
    heldBack.length === 0 ? 0 : Math.ceil(sumExpected(later.filter(({ address }) => !unfunded.has(address))));
  return { carries, missing, ...(afterPicks.length > 0 && { afterPicks }), ...(kept > 0 && { kept }) };
}

/** Finds rows after picks that the credits are not enough, or that follow such a row. */
function findNotCarried(
  later: readonly PlanRow[],
  heldBack: readonly PlanRow[],
  { room, hangs }: { room: number; hangs: Hangs },
): Set<string> {
  const lost = new Set(heldBack.flatMap((row) => [row.address, hangs.groupOf?.(row) ?? row.address]));
  // A row comes after those that it needs.
  for (const row of later) if (hangs.needsOf(row).some((need) => lost.has(need))) lost.add(row.address);
  const open = later.filter(({ address }) => !lost.has(address));
  const unfunded = findUnfunded(open, room, hangs);
  return new Set(later.flatMap(({ address }) => (lost.has(address) || unfunded.has(address) ? [address] : [])));
}

export interface Cap {
  name: 'budget' | 'run-limit' | 'limit';
  left: number;
}

export function capsOf({ budget, maxCredits, limit }: Caps): Cap[] {
  const all: [Cap['name'], number | undefined][] = [
    ['budget', budget],
    ['run-limit', maxCredits],
    ['limit', limit?.left],
  ];
  return all.flatMap(([name, left]) => (left === undefined ? [] : [{ name, left }]));
}

type Caps = { [name in 'budget' | 'maxCredits' | 'limit']?: PlanTotals[name] | undefined };

export function tightestCap(caps: readonly Cap[]): Cap | undefined {
  return caps.toSorted((a, b) => a.left - b.left)[0];
}

export function limitName(limit: PlanTotals['limit']): string {
  return limit?.of === 'engine' ? 'the limit of the workers' : 'MEDIABATCH_LIMIT';
}
