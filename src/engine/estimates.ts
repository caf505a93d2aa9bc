import type { RunEvent } from '../contract/event.ts';
import type { Price } from '../plan/plan.ts';

type Estimated = NonNullable<Extract<RunEvent, { event: 'run-ended' }>['estimated']>;

/** Compares what a plan expected of the jobs of a run with what they were charged. */
export class Estimates {
  readonly #seen: Estimated = { jobs: 0, likely: 0, charged: 0, unpriced: 0 };

  /** `charged`: `null` where the service did not say, which tells nothing. */
  note({ likely, credits }: Price, charged: number | null): void {
    const expected = likely ?? credits;
    if (charged === null || (charged === 0 && expected === 0)) return;
    if (expected === null) {
      this.#seen.unpriced += 1;
      return;
    }
    this.#seen.jobs += 1;
    this.#seen.likely += expected;
    this.#seen.charged += charged;
  }

  /** Absent when nothing was charged. */
  get result(): Estimated | undefined {
    const { jobs, unpriced } = this.#seen;
    return jobs + unpriced === 0 ? undefined : this.#seen;
  }
}
