/**
 * Decides whether a kind's list is used. A terminal state in a list is evidence; a running state counts only once a
 * list was seen to be the first with the news, and not when it was behind twice.
 */
export class ListTrust {
  readonly #clock: { now(): number };
  #state: 'unknown' | 'trusted' | 'stale';
  #strikes = 0;
  #staleSince = 0;

  constructor(clock: { now(): number }, start: 'unknown' | 'stale') {
    this.#clock = clock;
    this.#state = start;
    this.#staleSince = clock.now();
  }

  get isTrusted(): boolean {
    return this.#state === 'trusted';
  }

  /** A list that was behind is tried again after a while. */
  get isAskable(): boolean {
    return this.#state !== 'stale' || this.#clock.now() - this.#staleSince >= retestMs;
  }

  /** Notes that it showed the end of a job before anything else did. */
  wasFirst(): void {
    this.#state = 'trusted';
    this.#strikes = 0;
  }

  /** Notes that it showed a job as running more than two seconds after that job had ended. */
  wasBehind(): void {
    this.#strikes += 1;
    if (this.#strikes < 2) return;
    this.#state = 'stale';
    this.#strikes = 0;
    this.#staleSince = this.#clock.now();
  }
}

const retestMs = 600_000;
