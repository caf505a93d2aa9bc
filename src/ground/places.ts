import PQueue from 'p-queue';

/** Semaphore. Jobs get free slots in order. */
export class Places {
  readonly #queue: PQueue;
  #most: number;

  /** `most`: number of slots; with 0, no job begins. */
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

  /** `most`: at least 1. Running jobs keep their slots. */
  resize(most: number): void {
    this.#most = most;
    this.#queue.concurrency = most;
  }

  /** Resolves with the function that frees the slot. */
  take(): Promise<() => void> {
    return new Promise((taken) => void this.use(() => new Promise<void>((free) => taken(free))));
  }

  /** Rejects if `signal` aborts before `work` has a slot. */
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
