import type { Http } from './http.ts';

/** It costs nothing, is documented, and answers shortly. */
const probePath = '/accounts';
const probeMs = 5000;

/**
 * How far the service's clock is ahead of this one, by the `Date` of its answers (RFC 9110, whole seconds). The service keeps
 * keys by its own clock, and a clock here may be wrong by hours.
 */
export class ServiceClock {
  readonly #now: () => number;
  #aheadMs: number | undefined;
  #probe: Promise<void> | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The same calls; each answer is looked at. */
  watch(http: Http): Http {
    return {
      call: async (call) => {
        const answer = await http.call(call);
        if (answer.is === 'answer') this.#observe(answer.headers.date);
        return answer;
      },
      close: () => http.close(),
    };
  }

  /** Milliseconds; 0 where the service does not say. Asks once where no answer has told yet. */
  async aheadMs(http: Http): Promise<number> {
    if (this.#aheadMs === undefined) {
      this.#probe ??= http.call({ method: 'GET', path: probePath, deadlineMs: probeMs }).then(() => {});
      await this.#probe;
    }
    return this.#aheadMs ?? 0;
  }

  #observe(date: string | undefined): void {
    const ahead = date === undefined ? Number.NaN : Date.parse(date) - this.#now();
    // The header has whole seconds, and the answer was under way: less than that is no difference.
    this.#aheadMs = Number.isNaN(ahead) ? (this.#aheadMs ?? 0) : Math.abs(ahead) < 2000 ? 0 : ahead;
  }
}
