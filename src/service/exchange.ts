import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { request as httpsRequest } from 'node:https';

/** What came back, or how far it got. */
export type ExchangeEnd =
  | { is: 'answer'; status: number; headers: IncomingHttpHeaders; text: string }
  /** `sent` false is proof: no byte of the request was written. `late`: its time was up. */
  | { is: 'broken'; sent: boolean; late: boolean; error: unknown };

/** Largest answer that is read, in bytes: the service's own description is the longest. */
const longestAnswer = 8 * 1024 * 1024;

/** Like the body of any answer: UTF-8, without the mark of byte order that some servers begin with. */
const decoder = new TextDecoder();

/**
 * One request with its whole answer in memory, at most `deadlineMs` from now, and never sent twice. Its agent hands out only
 * connections that stand (`makeStandingAgent`), so being given one is the moment from which bytes may be on their way. No
 * error code tells that: a reset inside the TLS handshake and one after the request look the same.
 */
export function exchange(
  options: RequestOptions,
  body: string | undefined,
  limits: { deadlineMs: number; signal?: AbortSignal | undefined },
): Promise<ExchangeEnd> {
  return new Promise((resolve) => {
    const { deadlineMs, signal } = limits;
    if (signal?.aborted) return resolve({ is: 'broken', sent: false, late: false, error: signal.reason });
    let request: ClientRequest | undefined;
    let isSettled = false;
    let sent = false;
    const settle = (end: ExchangeEnd) => {
      isSettled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      resolve(end);
    };
    const fail = (error: unknown, late = false) => {
      if (isSettled) return;
      settle({ is: 'broken', sent, late, error });
      // One that was not sent yet never will be.
      request?.destroy();
    };
    const giveUp = () => fail(signal?.reason);
    const timer = setTimeout(() => fail(new Error('it took too long'), true), deadlineMs);
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      request = (options.protocol === 'https:' ? httpsRequest : httpRequest)(options);
    } catch (error) {
      // What cannot be written at all, such as a line break in a header.
      return fail(error);
    }
    let isAnswered = false;
    request.once('socket', () => {
      sent = true;
    });
    // What only announces an answer (1xx) is none, and does not come here.
    request.once('response', (response) => {
      isAnswered = true;
      const { statusCode: status = 0, headers } = response;
      readAll(response, { fail, done: (text) => settle({ is: 'answer', status, headers, text }) });
    });
    request.on('error', (error) => fail(error));
    request.once('close', () => {
      if (!isAnswered) fail(new Error('the connection was closed without an answer'));
    });
    request.end(body);
  });
}

function readAll(
  response: IncomingMessage,
  { fail, done }: { fail(error: unknown): void; done(text: string): void },
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > longestAnswer) fail(new Error(`the answer is longer than ${longestAnswer} bytes`));
    else chunks.push(chunk);
  });
  response.once('end', () => {
    const [first, ...more] = chunks;
    done(decoder.decode(more.length === 0 ? first : Buffer.concat(chunks)));
  });
  response.on('error', (error) => fail(error));
  response.once('close', () => fail(new Error('the answer ended early')));
}
