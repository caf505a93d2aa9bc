import type { Dispatcher } from 'undici';

/** An answer whose body has still to come. `return` of the body lets go of the connection, also before the first chunk. */
export interface Incoming {
  status: number;
  headers: { [name: string]: string | string[] | undefined };
  body: AsyncIterableIterator<Uint8Array>;
}

export interface IncomingLimits {
  /** Ends the request, or the body. */
  signal: AbortSignal;
  /** A body that drips would otherwise never end: slower than this for a minute is as good as silence. */
  leastBytesPerSecond: number;
  /** In ms, from any point. */
  now?(): number;
}

type Controller = Dispatcher.DispatchController;
type Next = IteratorResult<Uint8Array, undefined>;

const windowMs = 60_000;

/**
 * Sends a request; resolves when its answer begins, rejects when there is none. The body comes as it is asked for: while
 * nobody does, the sender waits. A handler of undici's like `exchange`, because a stream for each file costs as much as a
 * small file does.
 */
export function openIncoming(
  agent: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: IncomingLimits,
): Promise<Incoming> {
  return new Promise((resolve, reject) => {
    const { signal } = limits;
    if (signal.aborted) return reject(signal.reason);
    agent.dispatch(request, new IncomingHandler(limits, { resolve, reject }));
  });
}

interface Opening {
  resolve(incoming: Incoming): void;
  reject(error: unknown): void;
}

interface Wanted {
  resolve(next: Next): void;
  reject(error: unknown): void;
}

/** undici calls it in the order start, response, data…, end; or error, at any time. */
class IncomingHandler implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array> {
  readonly #limits: IncomingLimits;
  readonly #opening: Opening;
  readonly #giveUp = () => this.#breakOff(this.#limits.signal.reason);
  #controller: Controller | undefined;
  /** Came before it was asked for. More than one only while undici is at it. */
  readonly #chunks: Uint8Array[] = [];
  /** Asked for before it came. */
  #wanted: Wanted | undefined;
  /** Nothing more comes. */
  #end: { error?: unknown } | undefined;
  readonly #now: () => number;
  #windowStart: number;
  #windowBytes = 0;

  constructor(limits: IncomingLimits, opening: Opening) {
    this.#limits = limits;
    this.#opening = opening;
    this.#now = limits.now ?? (() => performance.now());
    this.#windowStart = this.#now();
    limits.signal.addEventListener('abort', this.#giveUp, { once: true });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#end !== undefined) controller.abort(new Error('given up before it was sent'));
  }

  onResponseStart(_controller: Controller, status: number, headers: Incoming['headers']): void {
    // 1xx announces an answer, and is none.
    if (status >= 200) this.#opening.resolve({ status, headers, body: this });
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    // undici hands out what is left of nothing when it goes on after a pause.
    if (chunk.length === 0) return;
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted === undefined) {
      this.#chunks.push(chunk);
      controller.pause();
      return;
    }
    this.#hand(chunk, wanted);
  }

  onResponseEnd(): void {
    this.#finish({});
  }

  onResponseError(_controller: Controller, error: unknown): void {
    this.#finish({ error });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Next> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      if (this.#chunks.length === 0) this.#controller?.resume();
      return new Promise((resolve, reject) => this.#hand(chunk, { resolve, reject }));
    }
    if (this.#end === undefined) {
      return new Promise((resolve, reject) => {
        this.#wanted = { resolve, reject };
      });
    }
    return 'error' in this.#end ? Promise.reject(this.#end.error) : Promise.resolve({ done: true, value: undefined });
  }

  async return(): Promise<Next> {
    this.#breakOff(new Error('it was not read to its end'));
    this.#chunks.length = 0;
    return { done: true, value: undefined };
  }

  #isTooSlow(chunk: Uint8Array): boolean {
    this.#windowBytes += chunk.length;
    const elapsedMs = this.#now() - this.#windowStart;
    if (elapsedMs < windowMs) return false;
    if (this.#windowBytes < (this.#limits.leastBytesPerSecond * elapsedMs) / 1000) return true;
    this.#windowStart = this.#now();
    this.#windowBytes = 0;
    return false;
  }

  #hand(chunk: Uint8Array, to: Wanted): void {
    if (!this.#isTooSlow(chunk)) {
      to.resolve({ done: false, value: chunk });
      return;
    }
    const error = new Error(`slower than ${this.#limits.leastBytesPerSecond} bytes a second`);
    this.#breakOff(error);
    to.reject(error);
  }

  #breakOff(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#finish({ error });
    this.#controller?.abort(error instanceof Error ? error : new Error(String(error)));
  }

  #finish(end: { error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#limits.signal.removeEventListener('abort', this.#giveUp);
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (!('error' in end)) {
      wanted?.resolve({ done: true, value: undefined });
      return;
    }
    this.#opening.reject(end.error);
    wanted?.reject(end.error);
  }
}
