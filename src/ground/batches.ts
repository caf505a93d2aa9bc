interface Waiting<Item> {
  item: Item;
  resolve(): void;
  reject(error: unknown): void;
}

interface BatchOptions<Item> {
  write(items: readonly Item[]): Promise<void>;
  /** Awaited before each write, while more comes. Absent: what comes in the same turn is written together. */
  gather?(): Promise<void>;
  /** Items of a batch. Default: no limit. */
  most?: number;
}

/** Writes what is added in order, one batch after the other: all that waits shares a write. */
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

  /** Resolves when it is written; rejects with what became of its batch. */
  add(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#busy ??= this.#writeAll();
    });
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#busy !== undefined) await this.#busy;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await (this.#options.gather?.() ?? Promise.resolve());
      const batch = this.#waiting.splice(0, this.#options.most ?? this.#waiting.length);
      try {
        await this.#options.write(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#busy = undefined;
  }
}
