/** Condition that somebody waits for a change of. Whoever is woken looks again. */
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
