import type { Dispatcher } from 'undici';

type ExchangeEnd =
  | {
      is: 'answer';
      status: number;
      headers: { [name: string]: string | string[] | undefined };
      bytes: Uint8Array | undefined;
    }
  /** `sent` is false only if certainly no byte of the request was written. `late`: the deadline has passed. */
  | { is: 'broken'; sent: boolean; late: boolean; error: unknown };

type Answered = Extract<ExchangeEnd, { is: 'answer' }>;
type Controller = Dispatcher.DispatchController;

/**
 * Sends one request and reads its whole answer into memory, within `deadlineMs`; never sends it twice. Uses an undici
 * handler instead of `request`, because it reports when a request is about to be written, which no error code shows (a
 * reset inside the TLS handshake and one after the request look the same), and saves a stream per small answer.
 * `mayLeave` is called at that moment, when the connection exists.
 */
export function exchange(
  agent: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: { deadlineMs: number; signal?: AbortSignal | undefined; mayLeave?: (() => boolean) | undefined },
): Promise<ExchangeEnd> {
  return new Promise((resolve) => {
    const { deadlineMs, signal } = limits;
    if (signal?.aborted) return resolve({ is: 'broken', sent: false, late: false, error: signal.reason });
    const settle = (end: ExchangeEnd) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      resolve(end);
    };
    const handler = new ExchangeHandler(settle, limits.mayLeave);
    const timer = setTimeout(() => handler.breakOff({ late: true, error: new Error('it took too long') }), deadlineMs);
    const giveUp = () => handler.breakOff({ late: false, error: signal?.reason });
    signal?.addEventListener('abort', giveUp, { once: true });
    agent.dispatch(request, handler);
  });
}

const notAllowed = new Error('it may no longer be sent from here');

/** Called by undici in the order start, response, data…, end; or error, at any time. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  #settle: ((end: ExchangeEnd) => void) | undefined;
  readonly #mayLeave: (() => boolean) | undefined;
  /** Set from the moment when bytes of the request may have been written. */
  #controller: Controller | undefined;
  #status = 0;
  #headers: Answered['headers'] = {};
  #chunks: Uint8Array[] = [];

  constructor(settle: (end: ExchangeEnd) => void, mayLeave: (() => boolean) | undefined) {
    this.#settle = settle;
    this.#mayLeave = mayLeave;
  }

  onRequestStart(controller: Controller): void {
    if (this.#settle === undefined) {
      controller.abort(new Error('given up before it was sent'));
      return;
    }
    // undici may requeue a request when its connection broke; it cannot know whether repeating the request pays twice.
    if (this.#controller !== undefined) {
      const error = new Error('its connection broke');
      this.#end({ is: 'broken', sent: true, late: false, error });
      controller.abort(error);
      return;
    }
    const mayLeave = this.#mayLeave?.() !== false; // I35
    if (!mayLeave) {
      this.breakOff({ late: false, error: notAllowed }, controller);
      return;
    }
    this.#controller = controller;
  }

  onResponseStart(_controller: Controller, status: number, headers: Answered['headers']): void {
    // A 1xx status precedes the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...more] = this.#chunks;
    const bytes = more.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#end({ is: 'answer', status: this.#status, headers: this.#headers, bytes });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#end({ is: 'broken', sent: this.#controller !== undefined, late: false, error });
  }

  /** Ends the exchange; a request that was not sent yet never will be. */
  breakOff({ late, error }: { late: boolean; error: unknown }, controller = this.#controller): void {
    if (this.#settle === undefined) return;
    this.#end({ is: 'broken', sent: this.#controller !== undefined, late, error });
    controller?.abort(error instanceof Error ? error : new Error(String(error)));
  }

  #end(end: ExchangeEnd): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#chunks = [];
    settle?.(end);
  }
}
