import type { Readable } from 'node:stream';

/** Makes a stream the body of a download: closed by its iterator's `return`, even if iteration never began. */
export function bodyOf(stream: Readable): AsyncIterable<Uint8Array> {
  // The consumer of the iterator receives the error, too.
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
