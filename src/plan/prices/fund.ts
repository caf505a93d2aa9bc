import { groupBy } from '../../ground/values.ts';
import { isSpending, waitsFor } from '../actions.ts';
import { type PlanRow, type PlanTotals, reasonOf } from '../plan.ts';
import { blocked, type Draft } from '../rows/draft.ts';
import type { Situation } from '../situation/situation.ts';

interface Hangs {
  /** Addresses of the steps, and names of the groups of rows, that a plan row needs. */
  needsOf(row: PlanRow): readonly string[];
  /** Name of the group whose rows are bought together. `undefined` for a single row. */
  groupOf(row: PlanRow): string | undefined;
}

/** A single row, or all rows of a group, which are bought completely or not at all. */
interface Unit {
  name: string;
  rows: readonly PlanRow[];
  needs: readonly string[];
}

/**
 * Selects the purchases, and rows behind gates, that do not fit into `cap` credits. Unresolved create requests are
 * funded first, because they may already be charged. If not all rows fit, whole chains are funded next: a final output
 * with every step that it still needs. Single rows and groups are funded last, in the order of the plan.
 *
 * @returns addresses
 */
export function findUnfunded(rows: readonly PlanRow[], cap: number, hangs: Hangs): Set<string> {
  const units = unitsOf(rows, hangs);
  const all = [...units.values()];
  const funded = new Set<Unit>();
  let left = cap;
  const fund = (some: readonly Unit[]): boolean => {
    const open = some.filter((unit) => !funded.has(unit));
    if (sumExpected(open.flatMap((unit) => unit.rows)) > left) return false;
    for (const unit of open) {
      left -= reservedFor(unit);
      funded.add(unit);
    }
    return true;
  };
  for (const unit of all) if (unit.rows.some(isSent) && !fund([unit])) left = 0;
  const now = all.filter(({ rows }) => !rows.some(isLater));
  fund(now);
  const needsOf = (unit: Unit) => unit.needs.flatMap((need) => units.get(need) ?? []);
  for (const end of endsOf(all, { nameOf: ({ name }) => name, needsOf: ({ needs }) => needs })) {
    fund(chainOf(end, { needsOf, isTaken: (unit) => funded.has(unit) }));
  }
  for (const unit of [...now, ...all]) if (needsOf(unit).every((need) => funded.has(need))) fund([unit]);
  return new Set(all.flatMap((unit) => (funded.has(unit) ? [] : unit.rows.map(({ address }) => address))));
}

function unitsOf(rows: readonly PlanRow[], { needsOf, groupOf }: Hangs): ReadonlyMap<string, Unit> {
  const wanted = rows.filter((row) => isSpending(row.action) || isLater(row));
  const names = new Map(
    wanted.map((row) => [row.address, (isLater(row) || isSent(row) ? undefined : groupOf(row)) ?? row.address]),
  );
  const nameOf = (address: string) => names.get(address) ?? address;
  const groups = groupBy(wanted, ({ address }) => nameOf(address));
  return new Map(
    [...groups].map(([name, own]) => {
      const needs = new Set(own.flatMap((row) => needsOf(row)).map(nameOf));
      return [name, { name, rows: own, needs: [...needs].filter((need) => need !== name) }];
    }),
  );
}

/**
 * Returns the credits to reserve for a unit. A single row of unknown price reserves nothing, because the run checks the
 * budget before it buys the row. A group reserves its expected cost, so that the group is never bought in part.
 */
function reservedFor({ rows }: Unit): number {
  const [row, ...others] = rows;
  if (row === undefined || isLater(row) || others.length > 0) return sumExpected(rows);
  return row.credits ?? 0;
}

function expectedCredits({ action, credits, price, wouldCost }: PlanRow): number {
  // A step that shares another step's job has no price.
  if (action === 'blocked') return wouldCost === undefined ? 0 : (price?.likely ?? wouldCost ?? 1);
  return credits ?? Math.max(1, price?.likely ?? 1); // I14 (list)
}

function isLater({ blockedBy }: PlanRow): boolean {
  return blockedBy === 'gate';
}

function isSent({ order }: PlanRow): boolean {
  return order?.send !== undefined;
}

export function endsOf<Item>(
  items: readonly Item[],
  { nameOf, needsOf }: { nameOf(item: Item): string; needsOf(item: Item): readonly string[] },
): Item[] {
  const needed = new Set(items.flatMap(needsOf));
  return items.filter((item) => !needed.has(nameOf(item)));
}

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

/** Blocks the rows that exceed the lowest limit. Returns for how many rows the budget is enough. */
export function blockUnfunded(
  draft: Draft,
  limits: Parameters<typeof capsOf>[0],
  situation: Pick<Situation, 'byAddress' | 'gateOf'>,
): Fit | undefined {
  const sends = [...draft.asks, ...draft.inRun.filter(isSent)];
  // An unresolved create request reduces the budget even if it is not sent again. Either all of these requests are sent
  // again, or none.
  const fitsNone = limits.budget !== undefined && sumExpected(sends) > Math.max(0, limits.budget);
  const tightest = fitsNone ? ({ name: 'budget', left: 0 } as const) : tightestCap(capsOf(limits));
  if (tightest === undefined) return undefined;
  const { name: code, left: cap } = tightest;
  const isOfRun = code !== 'budget';
  const limit = { budget: 'the budget', 'run-limit': '--max-credits', limit: limitName(limits.limit) }[code];
  const tooDear = (row: PlanRow) => `${limit} is not enough: this step costs ${costText(row)}`;
  let asked = 0;
  draft.asks = draft.asks.map((row) => {
    const isTooDear = expectedCredits(row) > Math.max(0, cap - asked);
    asked += row.credits ?? 1;
    return isTooDear ? blocked(row, 'budget', reasonOf(code, `${row.reason.text}; ${tooDear(row)}`)) : row;
  });
  const hangs = hangsOf(situation);
  const wanted = draft.inRun.filter((row) => isSpending(row.action) || isLater(row));
  // A later run makes the purchases after a pick, so the limits of this run do not apply to them.
  const inReach = isOfRun ? wanted.filter((row) => !isLater(row)) : wanted;
  const unfunded = findUnfunded(inReach, Math.max(0, cap - asked), hangs);
  for (const row of wanted) {
    if (isLater(row) || !unfunded.has(row.address) || !isSpending(row.action)) continue;
    const { action, order } = row;
    const needed = order === undefined ? undefined : waitsFor(order).find((address) => unfunded.has(address));
    const text =
      row.credits === 0 ? `${limit} is not enough for ${needed ?? 'a step that this step needs'}` : tooDear(row);
    draft.put({ ...blocked(row, 'budget', reasonOf(code, text)), would: { action, reason: row.reason } });
  }
  if (limits.budget === undefined || wanted.length === 0) return undefined;
  return fitOf(wanted, Math.max(0, limits.budget - asked), hangs);
}

export function leaveOut(draft: Draft, addresses: ReadonlySet<string>): void {
  for (const row of draft.inRun) {
    const { address, action, reason } = row;
    if (!addresses.has(address) || !isSpending(action) || row.order?.send !== undefined) continue;
    const text = 'MEDIABATCH_LIMIT was not enough when the plan was made';
    draft.put({ ...blocked(row, 'budget', reasonOf('limit', text)), would: { action, reason } });
  }
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
 * Defines the funding groups: all steps of an undecided gate form a group, and each step behind the gate needs that
 * group.
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

function fitOf(wanted: readonly PlanRow[], left: number, hangs: Hangs): Fit {
  const priced = wanted.map((row) => (isLater(row) ? row : { ...row, credits: expectedCredits(row) }) as PlanRow);
  const unfunded = findUnfunded(priced, left, hangs);
  const later = wanted.filter(isLater);
  const carried = later.filter(({ address }) => !unfunded.has(address));
  const isShort = wanted.some((row) => !isLater(row) && unfunded.has(row.address));
  const carries = isShort
    ? 'part'
    : carried.length < later.length
      ? 'now'
      : wanted.some(isUnpriced)
        ? 'unknown'
        : 'all';
  const afterPicks = [...groupBy(later, ({ task }) => task)].map(([task, own]) => ({
    ...{ task, steps: own.length, carried: own.filter(({ address }) => !unfunded.has(address)).length },
  }));
  const kept = isShort ? Math.ceil(sumExpected(carried)) : 0;
  return {
    ...{ carries, missing: Math.max(0, Math.ceil(sumExpected(wanted) - left)) },
    ...(afterPicks.length > 0 && { afterPicks }),
    ...(kept > 0 && { kept }),
  };
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
