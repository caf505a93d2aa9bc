import PQueue from 'p-queue';

/** So many at once; the others wait, first come, first served. */
export class Places {
  readonly #queue: PQueue;

  constructor(most: number) {
    this.#queue = new PQueue({ concurrency: most });
  }

  get free(): number {
    return Math.max(0, this.#queue.concurrency - this.#queue.pending - this.#queue.size);
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** `signal`: ends the wait, and rejects; not the work. */
  use<Answer>(work: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    return this.#queue.add(work, signal && { signal });
  }
}

/** Works through items, so many at once. */
export async function eachAtOnce<Item>(
  items: Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const places = new Places(most);
  await Promise.all(Array.from(items, (item) => places.use(() => work(item))));
}
