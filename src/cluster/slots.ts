/** Expected of the first files, in ms: nobody waits here for what may be large. */
const firstGuessMs = 10_000;
/** Weight of the newest file. */
const newest = 0.2;

/** Files that this process fetches at once, whoever asked for them. */
export class Slots {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  readonly #now: () => number;
  #taken = 0;
  #usualMs = firstGuessMs;

  constructor(most: number, now = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  get free(): number {
    return this.#waiting.length > 0 ? 0 : Math.max(0, this.#most - this.#taken);
  }

  /** When the next one would have its turn, in ms, as far as the last files tell. */
  get waitMs(): number {
    return this.free > 0 ? 0 : ((this.#waiting.length + 1) * this.#usualMs) / this.#most;
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#taken += 1;
    const since = this.#now();
    try {
      return await work();
    } finally {
      this.#usualMs += (this.#now() - since - this.#usualMs) * newest;
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken -= 1;
      else next();
    }
  }
}
