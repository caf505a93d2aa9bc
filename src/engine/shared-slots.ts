import { Places } from '../ground/places.ts';

/**
 * Places among the jobs that an account may have at once, for several plans: as many as the one that asks for the most
 * has. Each plan waits for one place at a time, first come, first served, so none waits for the end of another.
 */
export class SharedSlots {
  readonly #places = new Places(1);
  readonly #members = new Map<symbol, number>();
  #useful = Number.POSITIVE_INFINITY;

  /** Returns what ends the membership. */
  join(concurrency: number): () => void {
    const member = Symbol();
    this.#members.set(member, concurrency);
    this.resize(this.#useful);
    return () => {
      this.#members.delete(member);
      this.resize(this.#useful);
    };
  }

  get taken(): number {
    return this.#places.taken;
  }

  /** `useful`: places beyond which none is given. */
  resize(useful: number): void {
    this.#useful = useful;
    this.#places.resize(Math.max(1, Math.ceil(Math.min(useful, Math.max(...this.#members.values())))));
  }

  /** Calls `begin` when a place is free, perhaps at once. What it returns has the place until it resolves. */
  wait(begin: () => Promise<void>): void {
    void this.#places.use(begin);
  }
}
