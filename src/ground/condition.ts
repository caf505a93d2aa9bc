/** Condition variable: a waiter that is woken checks again. */
export class Condition {
  #waiting: (() => void)[] = [];

  /** Resolves at the next change. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
