/** Weight of the newest file. */
const newest = 0.2;

/** Files that this process fetches at once, whoever asked for them. */
export class Slots {
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  readonly #now: () => number;
  #taken = 0;
  /** `undefined`: no file has been fetched yet. */
  #usualMs: number | undefined;

  constructor(most: number, now = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  get free(): number {
    return this.#waiting.size > 0 ? 0 : Math.max(0, this.#most - this.#taken);
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.free === 0) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    else this.#taken += 1;
    return this.#carryOut(work);
  }

  /** `undefined`: there is no place within so many ms, or as far as the last files tell there will be none. */
  async useWithin<T>(ms: number, work: () => Promise<T>): Promise<T | undefined> {
    if (this.free > 0) return this.use(work);
    if (((this.#waiting.size + 1) * (this.#usualMs ?? 0)) / this.#most > ms) return undefined;
    const isIn = await new Promise<boolean>((resolve) => {
      const enter = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(enter);
        resolve(false);
      }, ms);
      this.#waiting.add(enter);
    });
    return isIn ? this.#carryOut(work) : undefined;
  }

  async #carryOut<T>(work: () => Promise<T>): Promise<T> {
    const since = this.#now();
    try {
      return await work();
    } finally {
      const tookMs = this.#now() - since;
      this.#usualMs = this.#usualMs === undefined ? tookMs : this.#usualMs + (tookMs - this.#usualMs) * newest;
      const [next] = this.#waiting;
      if (next === undefined) {
        this.#taken -= 1;
      } else {
        this.#waiting.delete(next);
        next();
      }
    }
  }
}
