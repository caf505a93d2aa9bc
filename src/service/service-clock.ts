import { envelope } from '../kinds/envelope.ts';
import type { Http, HttpAnswer } from './http.ts';

/**
 * Tracks how far the service's clock is ahead of this one, by the `Date` of its answers (RFC 9110, whole seconds). The
 * service expires keys by its own clock, and a local clock may be wrong by hours.
 */
export class ServiceClock {
  readonly #now: () => number;
  #aheadMs: number | undefined;
  readonly #probeMs: number;
  #probe: Promise<HttpAnswer> | undefined;

  /** `probeMs`: longest wait for an answer that tells the time. */
  constructor(now: () => number, { probeMs }: { probeMs: number }) {
    this.#now = now;
    this.#probeMs = probeMs;
  }

  /** Wraps the calls: each answer is examined. */
  watch(http: Http): Http {
    return {
      call: async (call) => {
        const answer = await http.call(call);
        if (answer.is === 'answer') this.#observe(answer.headers[envelope.headers.date]);
        return answer;
      },
      close: () => http.close(),
    };
  }

  /**
   * Milliseconds; 0 if the service does not say. Queries the service if no answer has told yet, and again if it must be
   * `fresh`: a local clock may have been set, or have stood still with its machine.
   */
  async aheadMs(http: Http, { fresh = false }: { fresh?: boolean } = {}): Promise<number | { unreachable: string }> {
    if (this.#aheadMs !== undefined && !fresh) return this.#aheadMs;
    const probe = { method: 'GET', path: envelope.paths.accounts, deadlineMs: this.#probeMs } as const;
    this.#probe ??= http.call(probe).finally(() => {
      this.#probe = undefined;
    });
    const answer = await this.#probe;
    return answer.is === 'broken' ? { unreachable: answer.message } : (this.#aheadMs ?? 0);
  }

  #observe(date: string | undefined): void {
    const ahead = date === undefined ? Number.NaN : Date.parse(date) - this.#now();
    // The header has whole seconds, and the answer took time to arrive: a smaller difference means nothing.
    this.#aheadMs = Number.isNaN(ahead) ? (this.#aheadMs ?? 0) : Math.abs(ahead) < 2000 ? 0 : ahead;
  }
}
