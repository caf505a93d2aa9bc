/** Limits what happens at once, first come, first served. A free place is taken without a job in a queue. */
export class Semaphore {
  readonly #most: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  async use<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    await this.take();
    try {
      return await work();
    } finally {
      this.free();
    }
  }

  /** Resolves when the caller has a place, until `free` is called. */
  async take(): Promise<void> {
    if (this.#taken < this.#most) this.#taken += 1;
    else await new Promise<void>((enter) => this.#waiting.push(enter));
  }

  free(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}
