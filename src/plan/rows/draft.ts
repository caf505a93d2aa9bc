import { isSpending } from '../actions.ts';
import type { Reason } from '../plan.generated.ts';
import { type BlockedRow, type Plan, type PlanRow, type RowFacts, reasonOf } from '../plan.ts';
import type { Match } from '../situation/find-purchases.ts';
import { type CountParts, describeMissingPart, findMissingPart, type MissingPart } from '../situation/parts.ts';

export class Draft {
  asks: PlanRow[] = [];
  readonly #rows: PlanRow[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #selected: ReadonlySet<string> | undefined;

  constructor(rows: PlanRow[], selected?: ReadonlySet<string>) {
    this.#rows = rows;
    this.#places = new Map(rows.map(({ address }, place) => [address, place]));
    this.#selected = selected;
  }

  get all(): readonly PlanRow[] {
    return this.#rows;
  }

  get inRun(): readonly PlanRow[] {
    return this.#selected === undefined ? this.#rows : this.#rows.filter(({ address }) => this.isInRun(address));
  }

  isInRun(address: string): boolean {
    return this.#selected?.has(address) ?? this.#places.has(address);
  }

  at(address: string): PlanRow | undefined {
    const place = this.#places.get(address);
    return place === undefined ? undefined : this.#rows[place];
  }

  put(row: PlanRow): void {
    const place = this.#places.get(row.address);
    if (place !== undefined) this.#rows[place] = row;
  }

  block(row: PlanRow, by: BlockedRow['blockedBy'], reason: Reason): void {
    this.put(blocked(row, by, reason));
  }
}

export function lastingFacts(row: PlanRow): RowFacts {
  const facts: { [name: string]: unknown } = {};
  for (const name of lasting) if (row[name] !== undefined) facts[name] = row[name];
  return facts as unknown as RowFacts;
}

const lasting = [
  ...(['address', 'task', 'kind', 'reason', 'key', 'matrix', 'take', 'tags', 'send'] as const),
  ...(['jobId', 'output', 'pinned', 'accepted', 'wouldCost', 'changedSince'] as const),
];

export function blocked(row: PlanRow, blockedBy: BlockedRow['blockedBy'], reason: Reason): BlockedRow {
  const held: BlockedRow = { ...lastingFacts(row), action: 'blocked', blockedBy, reason, credits: 0 };
  if (blockedBy !== 'budget' || row.credits === 0) return held;
  held.wouldCost = row.credits;
  if (row.credits === null && row.price !== undefined) held.price = row.price;
  return held;
}

export function buyOnce(row: PlanRow): void {
  delete row.order?.retries;
  delete row.mayRetry;
}

export function dependentRows(rows: readonly PlanRow[], matches: readonly Match[]): PlanRow[] {
  const sharing = new Set(
    matches.flatMap(({ step, sharesJobOf }) => (sharesJobOf === undefined ? [] : [step.address])),
  );
  return rows.filter(({ address, action }) => isSpending(action) || sharing.has(address));
}

export function blockDependents(draft: Draft, { matches }: { matches: readonly Match[] }): void {
  const waiting = new Set(dependentRows(draft.inRun, matches));
  untilStable(waiting, () => {
    for (const row of waiting) {
      const findWhy = (addresses: readonly string[] = [], whyOf = whyNotDone) =>
        addresses.flatMap((address) => {
          const other = draft.at(address);
          return (other && whyOf(other, draft.isInRun(address))) ?? [];
        })[0];
      const why = findWhy(row.order?.needs) ?? findWhy(row.canaries, whyCanaryHolds);
      if (why === undefined) continue;
      draft.block(row, why.by, why.reason);
      waiting.delete(row);
    }
  });
}

/**
 * Repeats a pass over the plan rows until the size of its result no longer changes. One pass may be too few, because a
 * step may come before the step whose job it shares.
 */
export function untilStable(result: { readonly size: number }, pass: () => void): void {
  for (let before = -1; before !== result.size; ) {
    before = result.size;
    pass();
  }
}

interface Hindrance {
  by: 'step' | 'selection' | 'consent';
  reason: Reason;
}

export function whyCanaryHolds({ address, action, reason }: PlanRow, isInRun: boolean): Hindrance | undefined {
  const is = (what: string) => reasonOf('canary', `waits for its canary: ${address} ${what}`);
  if (action === 'keep') return undefined;
  if (action === 'failed') {
    return { by: 'step', reason: is(reason.code === 'unfit' ? 'does not fit `expect`' : 'failed') };
  }
  if (action === 'blocked' || action === 'unresolved') return { by: 'step', reason: is(`is ${action}`) };
  return isInRun ? undefined : { by: 'selection', reason: is('is neither done nor selected') };
}

function whyNotDone({ address, action, blockedBy }: PlanRow, isInRun: boolean): Hindrance | undefined {
  if (blockedBy === 'consent') {
    return { by: 'consent', reason: reasonOf('consent', `needs ${address}, which waits to be published`) };
  }
  switch (action) {
    case 'blocked':
    case 'failed':
    case 'unresolved':
      return {
        by: 'step',
        reason: { ...reasonOf('needs', `needs ${address}, which is ${action}`), need: { address, is: action } },
      };
    case 'create':
    case 'redo':
    case 'retry':
    case 'attach':
      return isInRun
        ? undefined
        : {
            by: 'selection',
            reason: {
              ...reasonOf('not-selected', `needs ${address}, which is not done and not selected`),
              need: { address, is: 'unselected' },
            },
          };
    default:
      return undefined;
  }
}

export function withoutUnneeded(plan: Plan, count: CountParts): { plan: Plan; unneeded: readonly PlanRow[] } {
  const unneeded: PlanRow[] = [];
  const rows = plan.rows.map((row): PlanRow => {
    const missing = row.action === 'blocked' ? findMissingPart(row.parts, count) : undefined;
    if (missing === undefined) return row;
    const rests: PlanRow = {
      ...lastingFacts(row),
      action: 'keep',
      credits: 0,
      unneeded: true,
      reason: notNeeded(missing),
    };
    unneeded.push(rests);
    return rests;
  });
  return { plan: unneeded.length === 0 ? plan : { ...plan, rows }, unneeded };
}

export function notNeeded(missing: MissingPart): Reason {
  return reasonOf('not-needed', `not needed: ${describeMissingPart(missing)}`);
}
