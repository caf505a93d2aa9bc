import type { Reason } from '../plan.generated.ts';
import type { BlockedRow, PlanRow, RowFacts } from '../plan.ts';

/** The rows of a plan while passes work on them. A pass replaces rows. */
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

/** Returns the facts of a row that stay true when nothing is done for its step. */
export function lastingFacts(row: PlanRow): RowFacts {
  const { address, task, kind, reason } = row;
  const facts: RowFacts = { address, task, kind, reason };
  if (row.key !== undefined) facts.key = row.key;
  if (row.matrix !== undefined) facts.matrix = row.matrix;
  if (row.take !== undefined) facts.take = row.take;
  if (row.tags !== undefined) facts.tags = row.tags;
  if (row.send !== undefined) facts.send = row.send;
  if (row.jobId !== undefined) facts.jobId = row.jobId;
  if (row.output !== undefined) facts.output = row.output;
  if (row.pinned !== undefined) facts.pinned = row.pinned;
  if (row.accepted !== undefined) facts.accepted = row.accepted;
  if (row.wouldCost !== undefined) facts.wouldCost = row.wouldCost;
  if (row.changedSince !== undefined) facts.changedSince = row.changedSince;
  return facts;
}

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
