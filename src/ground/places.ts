import PQueue from 'p-queue';

/** Semaphore. Jobs without a free slot wait, first come, first served. */
export class Places {
  readonly #queue: PQueue;
  #most: number;

  /** `most`: number of slots; 0: no job ever begins. */
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

  /** Changes the number of slots to `most`, at least 1. If it is reduced, running jobs keep their slots. */
  resize(most: number): void {
    this.#most = most;
    this.#queue.concurrency = most;
  }

  /** Resolves when the caller has a slot, with the function that frees it. */
  take(): Promise<() => void> {
    return new Promise((taken) => void this.use(() => new Promise<void>((free) => taken(free))));
  }

  /** Runs `work` in a slot. Aborting `signal` rejects while it waits for a slot; it does not stop the work. */
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
