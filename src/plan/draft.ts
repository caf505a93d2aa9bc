import { blocked } from './blocked.ts';
import type { Reason } from './plan.generated.ts';
import type { BlockedRow, PlanRow } from './plan.ts';

/** The rows of a plan while passes go over them: a pass puts another row in the place of one. */
export class Draft {
  /** Open sends that are asked about, beside the rows of their steps. */
  asks: PlanRow[] = [];
  readonly #rows: PlanRow[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #selected: ReadonlySet<string> | undefined;

  /** `selected`: addresses that the run is about. Absent: all. */
  constructor(rows: PlanRow[], selected?: ReadonlySet<string>) {
    this.#rows = rows;
    this.#places = new Map(rows.map(({ address }, place) => [address, place]));
    this.#selected = selected;
  }

  /** A row for each step, in the order of the graph, as they are at any time. */
  get all(): readonly PlanRow[] {
    return this.#rows;
  }

  /** Rows of the steps that the run is about. */
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
