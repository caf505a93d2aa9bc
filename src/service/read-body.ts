import type { Readable } from 'node:stream';

export interface BodyLimits {
  /** Ends the body. */
  signal: AbortSignal;
  /** Time in ms, from any origin. */
  now?(): number;
}

/** Silence, while more is awaited, after which a body counts as broken. */
const silenceMs = 60_000;
/** Lowest rate: a body that drips would otherwise never end, so slower than this for a minute counts as silence. */
const leastBytesPerSecond = 1000;
const windowMs = 60_000;
/** Bytes read ahead of demand: pausing and resuming a sender costs more than a chunk. */
const mostAhead = 128 * 1024;

type Next = IteratorResult<Uint8Array, undefined>;

/**
 * Yields the bytes of an answer on demand: without demand, the sender waits. `return` releases the connection, also
 * before the first chunk. A body that broke once never looks complete again.
 */
export function readBody(stream: Readable, { signal, now = () => performance.now() }: BodyLimits) {
  const chunks: Uint8Array[] = [];
  let ahead = 0;
  /** Set when nothing more comes. */
  let end: { error?: unknown } | undefined;
  let wake: (() => void) | undefined;
  let windowStart = now();
  let windowBytes = 0;

  const finish = (how: { error?: unknown }) => {
    if (end !== undefined) return;
    end = how;
    signal.removeEventListener('abort', interrupt);
    if ('error' in how) stream.destroy();
    wake?.();
  };
  const interrupt = () => finish({ error: signal.reason });
  stream.on('data', (chunk: Uint8Array) => {
    chunks.push(chunk);
    ahead += chunk.length;
    if (ahead >= mostAhead) stream.pause();
    wake?.();
  });
  stream.once('end', () => finish({}));
  stream.on('error', (error) => finish({ error })); // I26
  stream.once('close', () => finish({ error: new Error('it ended early') }));
  signal.addEventListener('abort', interrupt, { once: true });
  if (signal.aborted) interrupt();

  const isTooSlow = (bytes: number) => {
    windowBytes += bytes;
    const elapsedMs = now() - windowStart;
    if (elapsedMs < windowMs) return false;
    if (windowBytes < (leastBytesPerSecond * elapsedMs) / 1000) return true;
    windowStart = now();
    windowBytes = 0;
    return false;
  };
  const comes = () =>
    new Promise<void>((resolve) => {
      const waiting = setTimeout(
        () => finish({ error: new Error(`nothing came for ${silenceMs / 1000} s`) }),
        silenceMs,
      );
      wake = () => {
        clearTimeout(waiting);
        wake = undefined;
        resolve();
      };
    });
  const body: AsyncIterableIterator<Uint8Array> = {
    async next(): Promise<Next> {
      if (chunks.length === 0 && end === undefined) {
        if (stream.isPaused()) stream.resume();
        await comes();
      }
      const chunk = chunks.shift();
      if (chunk !== undefined) {
        ahead -= chunk.length;
        if (isTooSlow(chunk.length)) finish({ error: new Error(`slower than ${leastBytesPerSecond} bytes a second`) });
      }
      if (end !== undefined && 'error' in end) throw end.error;
      return chunk === undefined ? { done: true, value: undefined } : { done: false, value: chunk };
    },
    async return(): Promise<Next> {
      finish({ error: new Error('it was not read to its end') });
      chunks.length = 0;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => body,
  };
  return body;
}
