/**
 * Tracks whether a disk is fast enough for synchronous calls: a round trip to a thread costs more than what the system
 * does in memory. A slow disk gets threads, so that nothing else in this process waits with them.
 */
export class DiskPace {
  readonly #quickMs: number;
  readonly #patienceMs: number;
  #behindMs = 0;

  /** `quickMs`: average time allowed per act. `patienceMs`: how far all of them together may fall behind that. */
  constructor({ quickMs, patienceMs }: { quickMs: number; patienceMs: number }) {
    this.#quickMs = quickMs;
    this.#patienceMs = patienceMs;
  }

  get isSlow(): boolean {
    return this.#behindMs > this.#patienceMs;
  }

  /** Records the duration of one more act. */
  took(ms: number): void {
    this.#behindMs = Math.max(0, this.#behindMs + ms - this.#quickMs);
  }

  /** Gives the disk another chance. */
  forgive(): void {
    this.#behindMs = 0;
  }
}
