import { createReadStream } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Content } from './wire.ts';

type Pieces = AsyncGenerator<Uint8Array, void>;

export async function* readPieces(content: Content): Pieces {
  if (content.type === 'bytes') {
    if (content.bytes.length > 0) yield content.bytes;
    return;
  }
  const { path, first, size } = content;
  if (size > 0) yield* createReadStream(path, { start: first, end: first + size - 1 });
}

export async function* cutPieces(pieces: AsyncIterable<Uint8Array>, bytes: number): Pieces {
  let left = bytes;
  for await (const piece of pieces) {
    if (left <= 0) return;
    yield piece.subarray(0, left);
    left -= piece.length;
  }
}

export async function* pacePieces(pieces: AsyncIterable<Uint8Array>, bytesPerSecond: number): Pieces {
  const pieceBytes = Math.max(1, Math.round(bytesPerSecond / 10));
  let isFirst = true;
  for await (const large of pieces) {
    for (let from = 0; from < large.length; from += pieceBytes) {
      if (!isFirst) await wait((pieceBytes / bytesPerSecond) * 1000);
      isFirst = false;
      yield large.subarray(from, from + pieceBytes);
    }
  }
}
