/** Rate limiter. Requests are unlimited until the first 429. Rates are in requests per second. */
export class AdaptiveRate {
  readonly #clock: { now(): number };
  readonly #least: number;
  #rate = Number.POSITIVE_INFINITY;
  #pausedUntil = 0;
  #nextAt = 0;
  #raisedAt = 0;
  #complaints = 0;
  #recent: number[] = [];

  constructor(clock: { now(): number }, { least = 0.5 } = {}) {
    this.#clock = clock;
    this.#least = least;
  }

  get isPaused(): boolean {
    return this.#pausedUntil > this.#clock.now();
  }

  /** Earliest time at which the next request may be sent, in ms since 1970. */
  get nextAt(): number {
    return Math.max(this.#pausedUntil, this.#nextAt);
  }

  take(): void {
    this.reserve();
    this.left();
  }

  /** Records that a request was sent. */
  left(): void {
    this.#recent.push(this.#clock.now());
    if (this.#recent.length > 2 * mostRecent) this.#recent = this.#recent.slice(-mostRecent);
  }

  reserve(): void {
    if (this.#rate === Number.POSITIVE_INFINITY) return;
    const now = this.#clock.now();
    if (now - this.#raisedAt >= raiseEveryMs) {
      this.#raisedAt = now;
      this.#complaints = 0;
      this.#rate *= 1.25;
      if (this.#rate > unlimitedAbove) this.#rate = Number.POSITIVE_INFINITY;
    }
    // Unused requests of at most one second are sent later, so that no burst follows a pause.
    this.#nextAt = Math.max(this.#nextAt, now - 1000) + 1000 / this.#rate;
  }

  /** Pauses requests after a 429, and lowers the rate once per pause. `asked`: pause in ms that the service demands. */
  complain(asked: number | null, random: number): void {
    const now = this.#clock.now();
    const isNew = now >= this.#pausedUntil;
    const own = Math.min(60_000, 2000 * 2 ** this.#complaints) * (0.5 + random / 2);
    const pauseMs = asked === null || !Number.isFinite(asked) ? own : Math.min(150_000, Math.max(1000, asked));
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
    if (!isNew) return;
    this.#complaints = Math.min(6, this.#complaints + 1);
    const spanMs = 5000;
    const measured = this.#recent.filter((at) => at > now - spanMs).length / (spanMs / 1000);
    this.#rate = Math.max(this.#least, 0.7 * Math.min(this.#rate, Math.max(measured, this.#least)));
    this.#raisedAt = now + pauseMs;
    this.#nextAt = this.#pausedUntil;
  }
}

const mostRecent = 1000;
const raiseEveryMs = 10_000;
const unlimitedAbove = 100;
