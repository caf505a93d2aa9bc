/**
 * How often the service lets itself be asked. Nothing is known until it complains (429): from then on the rate is what it
 * bore, and rises again while it says nothing. Rates are requests per second.
 */
export class AdaptiveRate {
  readonly #clock: { now(): number };
  readonly #least: number;
  #rate = Number.POSITIVE_INFINITY;
  #pausedUntil = 0;
  #nextAt = 0;
  #raisedAt = 0;
  #complaints = 0;
  /** When requests of the last seconds left. */
  #recent: number[] = [];

  /** `least`: complaints never make it less than this. */
  constructor(clock: { now(): number }, { least = 0.5 } = {}) {
    this.#clock = clock;
    this.#least = least;
  }

  get isLimited(): boolean {
    return this.#rate !== Number.POSITIVE_INFINITY || this.isPaused;
  }

  /** After a complaint. */
  get isPaused(): boolean {
    return this.#pausedUntil > this.#clock.now();
  }

  /** When the next request may leave, ms since 1970. */
  get nextAt(): number {
    return Math.max(this.#pausedUntil, this.#nextAt);
  }

  /** A request leaves. */
  take(): void {
    this.reserve();
    this.left();
  }

  /** A request left: what was borne is judged by those. */
  left(): void {
    this.#recent.push(this.#clock.now());
    if (this.#recent.length > 2 * mostRecent) this.#recent = this.#recent.slice(-mostRecent);
  }

  /** A request has its turn, and leaves soon. */
  reserve(): void {
    if (this.#rate === Number.POSITIVE_INFINITY) return;
    const now = this.#clock.now();
    if (now - this.#raisedAt >= raiseEveryMs) {
      this.#raisedAt = now;
      this.#complaints = 0;
      this.#rate *= 1.25;
      if (this.#rate > unlimitedAbove) this.#rate = Number.POSITIVE_INFINITY;
    }
    // What was not used in a second is lost: a pause is not followed by a flood.
    this.#nextAt = Math.max(this.#nextAt, now - 1000) + 1000 / this.#rate;
  }

  /** A 429. `asked`: what it asks for, in ms, if it does. `random` in [0, 1). Many that were on the wire together are one. */
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
