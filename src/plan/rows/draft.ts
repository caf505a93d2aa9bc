import type { Reason } from '../plan.generated.ts';
import type { BlockedRow, PlanRow, RowFacts } from '../plan.ts';

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
