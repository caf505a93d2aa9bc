import type { Dispatcher } from 'undici';

/** The answer, or how far the request got. */
export type ExchangeEnd =
  | {
      is: 'answer';
      status: number;
      headers: { [name: string]: string | string[] | undefined };
      bytes: Uint8Array | undefined;
    }
  /** `sent` false is proof: no byte of the request was written. `late`: the deadline has passed. */
  | { is: 'broken'; sent: boolean; late: boolean; error: unknown };

type Answered = Extract<ExchangeEnd, { is: 'answer' }>;
type Controller = Dispatcher.DispatchController;

/**
 * One request with its whole answer in memory, at most `deadlineMs` from now, and never sent twice. An undici handler
 * rather than a call of `request`: it tells when a request is about to be written, which no error code does (a reset
 * inside the TLS handshake and one after the request look the same), and saves a stream per small answer. `mayLeave` is
 * asked at that very moment, when the connection is there.
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
  /** Set from the moment when bytes of the request may have left. */
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
    // undici may requeue a request when its connection broke; whether that pays twice is not for undici to know.
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
    // 1xx announces an answer, but is none.
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

  /** Ends the wait; a request not sent yet never will be. */
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
