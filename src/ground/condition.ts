/** Condition variable. After a notification, each waiter checks its condition again. */
export class Condition {
  #waiting: (() => void)[] = [];

  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
