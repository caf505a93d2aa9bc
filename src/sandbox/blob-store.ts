import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Content } from './wire.ts';

export interface StoredBytes {
  readonly place: string;
  readonly size: number;
  readonly etag: string;
}

export interface BlobStore {
  /** Stores a blob: all chunks or none. Rejects with `TooLargeError`, or with the error that `chunks` throws. */
  write(name: string, chunks: AsyncIterable<Uint8Array>, limitBytes: number): Promise<StoredBytes>;
  /** Opens a stored blob. Returns `undefined` if the blob's bytes were replaced or deleted. */
  content(bytes: StoredBytes): Content | undefined;
  read(bytes: StoredBytes): Promise<Buffer>;
  remove(bytes: StoredBytes): Promise<void>;
}

export class TooLargeError extends Error {
  constructor(limitBytes: number) {
    super(`more than ${limitBytes} bytes`);
    this.name = 'TooLargeError';
  }
}

async function drain(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
  keep: (chunk: Uint8Array) => Promise<void> | void,
): Promise<{ size: number; etag: string }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limitBytes) throw new TooLargeError(limitBytes);
    hash.update(chunk);
    await keep(chunk);
  }
  return { size, etag: `"${hash.digest('hex').slice(0, 32)}"` };
}

/** `folder`: folder of the store, undefined for a store in memory. */
export function createBlobStore(folder: string | undefined): BlobStore {
  return folder === undefined ? createMemoryStore() : createDiskStore(folder);
}

function createMemoryStore(): BlobStore {
  const kept = new Map<string, Buffer>();
  return {
    async write(name, chunks, limitBytes) {
      const parts: Uint8Array[] = [];
      const { size, etag } = await drain(chunks, limitBytes, (chunk) => void parts.push(chunk));
      const place = placeOf(name, etag);
      kept.set(place, Buffer.concat(parts));
      return { place, size, etag };
    },
    content({ place }) {
      const bytes = kept.get(place);
      return bytes === undefined ? undefined : { type: 'bytes', bytes };
    },
    async read({ place }) {
      return kept.get(place) ?? Buffer.alloc(0);
    },
    async remove({ place }) {
      kept.delete(place);
    },
  };
}

const unfinishedPrefix = '.unfinished-';

function createDiskStore(folder: string): BlobStore {
  // Removes unfinished files of a process that was killed during an upload.
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (name.startsWith(unfinishedPrefix)) rmSync(join(folder, name), { force: true });
  }
  let writes = 0;
  return {
    async write(name, chunks, limitBytes) {
      await mkdir(folder, { recursive: true });
      writes += 1;
      const unfinished = join(folder, `${unfinishedPrefix}${process.pid}-${writes}`);
      try {
        const file = await open(unfinished, 'w');
        const drained = await drain(chunks, limitBytes, (chunk) => file.appendFile(chunk)).finally(() => file.close());
        const place = placeOf(name, drained.etag);
        await rename(unfinished, join(folder, place));
        return { place, ...drained };
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    },
    content({ place, size }) {
      const path = join(folder, place);
      return existsSync(path) ? { type: 'file', path, first: 0, size } : undefined;
    },
    read: ({ place }) => readFile(join(folder, place)),
    remove: ({ place }) => rm(join(folder, place), { force: true }),
  };
}

/** Stores new bytes under a new file name, so that clients can finish reading the old bytes. */
function placeOf(name: string, etag: string): string {
  return `${name}-${etag.slice(1, 17)}`;
}
