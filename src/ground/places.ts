import PQueue from 'p-queue';

/** A limited number of places; whoever finds none free waits, first come, first served. */
export class Places {
  readonly #queue: PQueue;
  readonly #most: number;

  /** `most`: number of places; 0: nothing ever begins. */
  constructor(most: number) {
    this.#queue = new PQueue({ concurrency: Math.max(1, most), autoStart: most > 0 });
    this.#most = most;
  }

  get free(): number {
    return Math.max(0, this.#most - this.#queue.pending - this.#queue.size);
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** `signal`: ends the wait, and rejects; not the work. */
  use<Answer>(work: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    return this.#queue.add(work, signal && { signal });
  }
}

/** Works through items, at most `most` of them at once. */
export async function eachAtOnce<Item>(
  items: Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const places = new Places(most);
  await Promise.all(Array.from(items, (item) => places.use(() => work(item))));
}
