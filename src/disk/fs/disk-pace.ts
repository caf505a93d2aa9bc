/**
 * Whether a disk is quick enough to be waited for: asking a thread, and waiting for it, costs more than what the system
 * does in memory. One that makes its users wait is for threads, so that nothing else of this process waits with them.
 */
export class DiskPace {
  readonly #quickMs: number;
  readonly #patienceMs: number;
  #behindMs = 0;

  /** `quickMs`: what one act may take on average. `patienceMs`: how far behind that all of them together may fall. */
  constructor({ quickMs, patienceMs }: { quickMs: number; patienceMs: number }) {
    this.#quickMs = quickMs;
    this.#patienceMs = patienceMs;
  }

  get isSlow(): boolean {
    return this.#behindMs > this.#patienceMs;
  }

  /** One more act took so long. */
  took(ms: number): void {
    this.#behindMs = Math.max(0, this.#behindMs + ms - this.#quickMs);
  }

  /** It gets another chance. */
  forgive(): void {
    this.#behindMs = 0;
  }
}
