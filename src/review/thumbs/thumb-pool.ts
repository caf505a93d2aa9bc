import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { makeThumb, type Thumb, type ThumbOrder } from './make-thumb.ts';

const mostThreads = 4;
/** A picture that takes longer is a trap, in ms. */
const defaultPatienceMs = 20_000;
/** A thread without work keeps the memory of its largest picture; it goes after so long, in ms. */
const idleMs = 10_000;

/** From TypeScript sources there is none: a thread would need the loader that runs them. */
const ownWorker = import.meta.url.endsWith('.js') ? new URL('../thumb-worker.js', import.meta.url) : undefined;

const notNeeded: Thumb = { problem: 'was not needed any more' };

interface Waiting {
  order: ThumbOrder;
  resolve(thumb: Thumb): void;
}

/**
 * Makes small pictures in threads of their own, the newest order first: it is for what a person looks at now. One core is
 * left for everything else. Whatever a picture does to its thread, another thread goes on. Without a worker they are made
 * here.
 */
export class ThumbPool {
  readonly #worker: URL | undefined;
  readonly #patienceMs: number;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Waiting[] = [];
  readonly #most = Math.max(1, Math.min(mostThreads, availableParallelism() - 1));
  #isClosed = false;

  /** `worker`: what runs in each thread. Default: that of this package, where it is built. */
  constructor({ worker = ownWorker, patienceMs = defaultPatienceMs }: { worker?: URL; patienceMs?: number } = {}) {
    this.#worker = worker;
    this.#patienceMs = patienceMs;
  }

  make(order: ThumbOrder): Promise<Thumb> {
    if (this.#worker === undefined) return makeThumb(order);
    if (this.#isClosed) return Promise.resolve(notNeeded);
    return new Promise((resolve) => {
      this.#waiting.push({ order, resolve });
      this.#goOn();
    });
  }

  /** What is still wanted gets a reason instead. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve(notNeeded);
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #goOn(): void {
    while (this.#waiting.length > 0 && !this.#isClosed && this.#worker !== undefined) {
      const free = [...this.#threads].find(({ isBusy }) => !isBusy);
      if (free === undefined && this.#threads.size >= this.#most) return;
      const thread = free ?? this.#addThread(this.#worker);
      const next = this.#waiting.pop();
      if (next === undefined) return;
      void thread.make(next.order, this.#patienceMs).then((thumb) => {
        next.resolve(thumb);
        this.#goOn();
      });
    }
  }

  #addThread(worker: URL): Thread {
    const thread = new Thread(worker, () => this.#threads.delete(thread));
    this.#threads.add(thread);
    return thread;
  }
}

/** One worker. It does not keep the process. */
class Thread {
  readonly #worker: Worker;
  readonly #onEnd: () => void;
  #settle: ((thumb: Thumb) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `onEnd`: from then on it takes no orders. */
  constructor(worker: URL, onEnd: () => void) {
    this.#onEnd = onEnd;
    // What a decoder says is for nobody's terminal.
    const quiet = { stdout: true, stderr: true };
    this.#worker = new Worker(worker, {
      name: 'review-thumbs',
      resourceLimits: { maxOldGenerationSizeMb: 256 },
      ...quiet,
    });
    this.#worker.unref();
    this.#worker.on('message', (thumb: Thumb) => this.#finish(thumb));
    const stop = (why: string) => {
      // An exit follows an error.
      this.#onEnd();
      this.#finish({ problem: `cannot be read: ${why}` });
    };
    this.#worker.on('error', (error) => stop(String(error).slice(0, 200)));
    this.#worker.on('exit', () => stop('its decoder has stopped'));
  }

  get isBusy(): boolean {
    return this.#settle !== undefined;
  }

  make(order: ThumbOrder, patienceMs: number): Promise<Thumb> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#endAfter(patienceMs);
      this.#worker.postMessage(order);
    });
  }

  async end(): Promise<void> {
    this.#onEnd();
    clearTimeout(this.#timer);
    await this.#worker.terminate();
  }

  #finish(thumb: Thumb): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#endAfter(idleMs);
    settle?.(thumb);
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.end(), ms).unref();
  }
}
