import { Places } from '../../ground/places.ts';

const newest = 0.2;

export class Slots {
  readonly #places: Places;
  readonly #most: number;
  readonly #now: () => number;
  /** Usual duration of a file in ms; `undefined` before the first one. */
  #usualMs: number | undefined;

  constructor(most: number, now = () => performance.now()) {
    this.#places = new Places(most);
    this.#most = most;
    this.#now = now;
  }

  get free(): number {
    return this.#places.free;
  }

  use<T>(work: () => Promise<T>): Promise<T> {
    return this.#places.use(() => this.#measure(work));
  }

  /** Runs the work in a slot. Resolves with `undefined` if no slot becomes free within `ms`, or none is expected to. */
  async useWithin<T>(ms: number, work: () => Promise<T>): Promise<T | undefined> {
    if (this.free > 0) return this.use(work);
    if (((this.#places.waiting + 1) * (this.#usualMs ?? 0)) / this.#most > ms) return undefined;
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), ms);
    const begin = () => {
      clearTimeout(timer);
      return this.#measure(work);
    };
    return this.#places.use(begin, patience.signal).catch((error: unknown) => {
      if (patience.signal.aborted) return undefined;
      throw error;
    });
  }

  async #measure<T>(work: () => Promise<T>): Promise<T> {
    const since = this.#now();
    try {
      return await work();
    } finally {
      const tookMs = this.#now() - since;
      this.#usualMs = this.#usualMs === undefined ? tookMs : this.#usualMs + (tookMs - this.#usualMs) * newest;
    }
  }
}
