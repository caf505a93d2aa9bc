import type { Readable } from 'node:stream';

/** Converts a stream into the body of a download. The iterator's `return` closes it, even if iteration never began. */
export function bodyOf(stream: Readable): AsyncIterable<Uint8Array> {
  // Prevents an unhandled error event; the consumer of the iterator receives the error.
  stream.on('error', () => {});
  return {
    [Symbol.asyncIterator]() {
      const chunks: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]();
      return {
        next: () => chunks.next(),
        async return() {
          stream.destroy();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
