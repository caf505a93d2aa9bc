interface Waiting<Item> {
  item: Item;
  resolve(): void;
  reject(error: unknown): void;
}

interface BatchOptions<Item> {
  write(items: readonly Item[]): Promise<void>;
  /** Awaited before each write, so that more items can join a batch. Defaults to one turn of the event loop. */
  gather?(): Promise<void>;
  sizeOf?(item: Item): number;
  /** Maximum total size of a batch. A larger item is written alone. */
  mostSize?: number;
}

/** Writes items in order. Each write takes all items that wait when it starts. */
export class Batches<Item> {
  readonly #options: BatchOptions<Item>;
  #waiting: Waiting<Item>[] = [];
  #busy: Promise<void> | undefined;

  constructor(options: BatchOptions<Item>) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#busy ??= this.#writeAll();
    });
  }

  async idle(): Promise<void> {
    while (this.#busy !== undefined) await this.#busy;
  }

  /** Runs `work` while no item is being written. Items added meanwhile are written after `work` ends. */
  async alone<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    while (this.#busy !== undefined) await this.#busy;
    const answer = work();
    const goOn = () => this.#writeAll();
    this.#busy = answer.then(goOn, goOn);
    return answer;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await (this.#options.gather?.() ?? Promise.resolve());
      const batch = this.#take();
      try {
        await this.#options.write(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#busy = undefined;
  }

  #take(): Waiting<Item>[] {
    const { sizeOf = () => 1, mostSize = Number.POSITIVE_INFINITY } = this.#options;
    let size = 0;
    let count = 0;
    for (const { item } of this.#waiting) {
      size += sizeOf(item);
      if (count > 0 && size > mostSize) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }
}
