import { groupBy } from '../../ground/values.ts';
import { isSpending, waitsFor } from '../actions.ts';
import type { PlanRow, PlanTotals } from '../plan.ts';
import { reasonOf } from '../reason.ts';
import { blocked, type Draft } from '../rows/draft.ts';
import type { Situation } from '../situation/situation.ts';
import { capsOf, limitName, tightestCap } from './caps.ts';
import { expectedCredits, findUnfunded, type Hangs, isLater } from './fund.ts';

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
  const tooDear = (row: PlanRow, kept = '') => `${limit} is not enough: it costs ${costText(row)}${kept}`;
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
