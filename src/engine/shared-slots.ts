/** Places among the jobs that an account may have at once, for several plans. As many as the one that asks for the most has. */
export class SharedSlots {
  #taken = 0;
  /** Plans by the function that fills their slots, in the order in which they are asked next. */
  readonly #members = new Map<() => void, number>();

  /** `fill`: called when a place may be free. Returns what ends the membership. */
  join(concurrency: number, fill: () => void): () => void {
    this.#members.set(fill, concurrency);
    return () => {
      this.#members.delete(fill);
    };
  }

  get taken(): number {
    return this.#taken;
  }

  get isFree(): boolean {
    return this.#taken < Math.max(0, ...this.#members.values());
  }

  take(): void {
    this.#taken += 1;
  }

  give(): void {
    this.#taken -= 1;
    queueMicrotask(() => this.#fill());
  }

  /** Whoever came first comes last the next time: no plan waits for the end of another. */
  #fill(): void {
    for (const [fill, concurrency] of [...this.#members]) {
      if (!this.isFree) return;
      const before = this.#taken;
      fill();
      if (this.#taken === before || !this.#members.has(fill)) continue;
      this.#members.delete(fill);
      this.#members.set(fill, concurrency);
    }
  }
}
