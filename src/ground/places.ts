import PQueue from 'p-queue';

/** Semaphore. Slots are granted in the order of the calls. */
export class Places {
  readonly #queue: PQueue;
  #most: number;

  /** `most`: number of slots. If `most` is 0, no work starts until `resize`. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#queue = new PQueue({ concurrency: Math.max(1, most), autoStart: most > 0 });
    this.#most = most;
  }

  get free(): number {
    return Math.max(0, this.#most - this.#queue.pending - this.#queue.size);
  }

  get taken(): number {
    return this.#queue.pending;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Changes the number of slots, at least 1. Work that has a slot continues. */
  resize(most: number): void {
    this.#most = most;
    this.#queue.concurrency = most;
  }

  /** Resolves with a function that frees the slot. */
  take(): Promise<() => void> {
    return new Promise((taken) => void this.use(() => new Promise<void>((free) => taken(free))));
  }

  /** Runs `work` in a slot. Rejects if `signal` is aborted before a slot is free. */
  use<Answer>(work: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    return this.#queue.add(work, signal && { signal });
  }
}

export async function eachAtOnce<Item>(
  items: Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const places = new Places(most);
  await Promise.all(Array.from(items, (item) => places.use(() => work(item))));
}
