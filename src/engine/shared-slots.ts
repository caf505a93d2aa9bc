import { Places } from '../ground/places.ts';

/**
 * Job slots of an account, shared by several plans: their number is the highest `concurrency` of these plans. Each plan
 * waits for one slot at a time, in order of request, so no plan waits until another has ended.
 */
export class SharedSlots {
  readonly #places = new Places(1);
  readonly #members = new Map<symbol, number>();

  /** Adds a plan with its `concurrency`. Returns a function that removes it. */
  join(concurrency: number): () => void {
    const member = Symbol();
    this.#members.set(member, concurrency);
    this.#resize();
    return () => {
      this.#members.delete(member);
      this.#resize();
    };
  }

  get taken(): number {
    return this.#places.taken;
  }

  #resize(): void {
    this.#places.resize(Math.max(1, ...this.#members.values()));
  }

  /** Calls `begin` when a slot is free, perhaps at once. The slot is occupied until the promise of `begin` resolves. */
  wait(begin: () => Promise<void>): void {
    void this.#places.use(begin);
  }
}
