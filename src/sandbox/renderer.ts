import { Worker } from 'node:worker_threads';
import { findKind } from './kinds/index.ts';
import type { RenderOrder } from './kinds/kind.ts';
import { sampleRenderers } from './samples.ts';

export interface Renderer {
  render(order: RenderOrder): Promise<Buffer>;
  close(): Promise<void>;
}

export type WorkerAnswer = { readonly number: number } & (
  | { readonly type: 'done'; readonly bytes: Uint8Array }
  | { readonly type: 'failed'; readonly message: string }
);

/**
 * Returns a renderer. The built package renders in a worker thread, so that a large picture does not delay other
 * answers. Code that runs from its TypeScript sources renders in the main thread.
 */
export function createRenderer(): Renderer {
  return import.meta.url.endsWith('.js') ? new ThreadRenderer() : { render: renderHere, close: async () => undefined };
}

export async function renderHere(order: RenderOrder): Promise<Buffer> {
  const render = findKind(order.kind)?.render ?? sampleRenderers[order.kind];
  if (render === undefined) throw new Error(`internal error: no renderer for the kind ${order.kind}`);
  const bytes = await render(order);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

interface Waiting {
  readonly resolve: (bytes: Buffer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Renders in a worker thread, which starts with the first order and restarts after a crash. An idle thread does not
 * keep the process alive.
 */
class ThreadRenderer implements Renderer {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private orders = 0;

  render(order: RenderOrder): Promise<Buffer> {
    this.worker ??= this.start();
    const { worker } = this;
    this.orders += 1;
    const number = this.orders;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      worker.ref();
      worker.postMessage({ number, order });
    });
  }

  async close(): Promise<void> {
    await this.worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(new URL('./render-worker.js', import.meta.url), { name: 'sandbox-render' });
    worker.on('message', (answer: WorkerAnswer) => this.settle(worker, answer));
    const stop = (error: Error) => {
      // An exit event may follow an error event. A new thread may then already be running other orders.
      if (this.worker !== worker) return;
      this.worker = undefined;
      for (const waiting of this.waiting.values()) waiting.reject(error);
      this.waiting.clear();
    };
    worker.on('error', stop);
    worker.on('exit', () => stop(new Error('the renderer of the sandbox has stopped')));
    return worker;
  }

  private settle(worker: Worker, answer: WorkerAnswer): void {
    const waiting = this.waiting.get(answer.number);
    this.waiting.delete(answer.number);
    if (this.waiting.size === 0) worker.unref();
    if (answer.type === 'failed') waiting?.reject(new Error(answer.message));
    else waiting?.resolve(Buffer.from(answer.bytes.buffer, answer.bytes.byteOffset, answer.bytes.byteLength));
  }
}
