import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { makeThumb, type Thumb, type ThumbOrder } from './make-thumb.ts';

const mostThreads = 4;
/** A picture that takes longer is a trap, in ms. */
const patienceMs = 20_000;
/** A thread without work keeps the memory of its largest picture; it goes after so long, in ms. */
const idleMs = 10_000;

interface Waiting {
  order: ThumbOrder;
  resolve(thumb: Thumb): void;
}

/**
 * Makes small pictures in threads of their own, the newest order first: it is for what a person looks at now. One core is
 * left for everything else. Whatever a picture does to its thread, another thread goes on. From TypeScript sources they are
 * made here: a thread would need the loader that runs them.
 */
export class ThumbPool {
  readonly #threads = new Set<Thread>();
  readonly #waiting: Waiting[] = [];
  readonly #most = Math.max(1, Math.min(mostThreads, availableParallelism() - 1));
  #isClosed = false;

  make(order: ThumbOrder): Promise<Thumb> {
    if (!import.meta.url.endsWith('.js')) return makeThumb(order);
    return new Promise((resolve) => {
      this.#waiting.push({ order, resolve });
      this.#goOn();
    });
  }

  /** What is still wanted gets a reason instead. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve({ problem: 'was not needed any more' });
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #goOn(): void {
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const free = [...this.#threads].find(({ isBusy }) => !isBusy);
      if (free === undefined && this.#threads.size >= this.#most) return;
      const thread = free ?? this.#addThread();
      const next = this.#waiting.pop();
      if (next === undefined) return;
      void thread.make(next.order).then((thumb) => {
        next.resolve(thumb);
        this.#goOn();
      });
    }
  }

  #addThread(): Thread {
    const thread = new Thread(() => this.#threads.delete(thread));
    this.#threads.add(thread);
    return thread;
  }
}

/** One worker. It does not keep the process. */
class Thread {
  readonly #worker = new Worker(new URL('../thumb-worker.js', import.meta.url), {
    name: 'review-thumbs',
    resourceLimits: { maxOldGenerationSizeMb: 256 },
    stdout: true,
    stderr: true,
  });
  #settle: ((thumb: Thumb) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(onEnd: () => void) {
    this.#worker.unref();
    this.#worker.on('message', (thumb: Thumb) => this.#finish(thumb));
    const stop = (why: string) => {
      onEnd();
      this.#finish({ problem: `cannot be read: ${why}` });
    };
    this.#worker.on('error', (error) => stop(String(error).slice(0, 200)));
    this.#worker.on('exit', () => stop('its decoder has stopped'));
  }

  get isBusy(): boolean {
    return this.#settle !== undefined;
  }

  make(order: ThumbOrder): Promise<Thumb> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#endAfter(patienceMs);
      this.#worker.postMessage(order);
    });
  }

  async end(): Promise<void> {
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
