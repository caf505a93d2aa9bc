import { writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { DiskPace } from './disk-pace.ts';
import { writeAll } from './durable.ts';

/** To copy 64 KiB into memory takes a hundredth of `quickMs`; on a machine with much else to do it may take as long. */
const pace = { quickMs: 2, patienceMs: 200 };
/** So long threads do them before the disk is tried again. */
const restMs = 5000;

/**
 * Writes the pieces of large files. As long as the system takes them without delay, they are written at once: to hand 64 KiB
 * to a thread and to wait for it costs more than to copy them. A disk that makes its writers wait gets threads, so that
 * nothing else of this process waits with them.
 */
export class ChunkWriter {
  readonly #now: () => number;
  readonly #pace = new DiskPace(pace);
  #restsUntil = Number.NEGATIVE_INFINITY;

  /** `now`: in ms, from any point. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** All of `bytes` at the end of the file. Undefined: they are written. Throws, or rejects, with what the system says. */
  write(handle: FileHandle, bytes: Uint8Array): Promise<void> | undefined {
    const before = this.#now();
    if (before < this.#restsUntil) return writeAll(handle, bytes);
    for (let written = 0; written < bytes.length; ) written += writeSync(handle.fd, bytes, written);
    const after = this.#now();
    this.#pace.took(after - before);
    if (this.#pace.isSlow) {
      this.#pace.forgive();
      this.#restsUntil = after + restMs;
    }
    return undefined;
  }
}
