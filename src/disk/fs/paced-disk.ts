import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { coalesce } from './coalesce.ts';
import { renameFile, syncFolder, writeAll } from './durable.ts';
import { orAbsent } from './plain-file.ts';

/** Tracks whether a disk is fast enough for synchronous calls, which then beat a round trip to a thread. */
export class DiskPace {
  readonly #quickMs: number;
  readonly #patienceMs: number;
  #behindMs = 0;

  /**
   * `quickMs`: allowed average time per operation. `patienceMs`: total time by which the operations may exceed that
   * average before the disk counts as slow.
   */
  constructor({ quickMs, patienceMs }: { quickMs: number; patienceMs: number }) {
    this.#quickMs = quickMs;
    this.#patienceMs = patienceMs;
  }

  get isSlow(): boolean {
    return this.#behindMs > this.#patienceMs;
  }

  took(ms: number): void {
    this.#behindMs = Math.max(0, this.#behindMs + ms - this.#quickMs);
  }

  /** Resets the measurement, so that the disk counts as fast again. */
  forgive(): void {
    this.#behindMs = 0;
  }
}

/** Operations done in memory take a hundredth of `quickMs`, or all of it on a busy machine. */
const pace = { quickMs: 2, patienceMs: 200 };
/** Time in ms for which threads do everything before synchronous calls are tried again. */
const restMs = 5000;

const openByThread = promisify(fs.open);
const closeByThread = promisify(fs.close);
const readByThread = promisify(fs.read);
const syncByThread = promisify(fs.fsync);
const fstatByThread = promisify(fs.fstat);

/**
 * Frequent file operations, by descriptor. They run synchronously as long as the system answers without delay, because
 * a round trip to a thread takes longer than most of them, and threads that create files in one folder block each
 * other. A slow disk is used from threads, so that the rest of this process does not wait for it. All operations throw,
 * or reject, with the system's error; a promise is returned only if there is a wait.
 */
export class PacedDisk {
  readonly #now: () => number;
  readonly #pace = new DiskPace(pace);
  readonly #folderSyncs = new Map<string, () => Promise<void>>();
  #restsUntil = Number.NEGATIVE_INFINITY;

  /** `now`: time in ms, from any origin. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  open(path: string, flags: number, mode: number): number | Promise<number> {
    return this.#act(
      () => fs.openSync(path, flags, mode),
      () => openByThread(path, flags, mode),
    );
  }

  /** Writes all of `bytes` at the file's position, or at its end if it was opened for appending. */
  write(fd: number, bytes: Uint8Array): void | Promise<void> {
    return this.#act(
      () => writeAllNow(fd, bytes),
      () => writeAll(fd, bytes),
    );
  }

  read(fd: number, size: number): Uint8Array | Promise<Uint8Array> {
    return this.#act(
      () => readAllNow(fd, size),
      () => readAll(fd, size),
    );
  }

  close(fd: number): void | Promise<void> {
    return this.#act(
      () => fs.closeSync(fd),
      () => closeByThread(fd),
    );
  }

  rename(from: string, to: string): void | Promise<void> {
    // On Windows another program may hold the file open for a moment, so the rename needs retries.
    if (process.platform === 'win32') return renameFile(from, to);
    return this.#act(
      () => fs.renameSync(from, to),
      () => renameFile(from, to),
    );
  }

  fstat(fd: number): fs.Stats | Promise<fs.Stats> {
    return this.#act(
      () => fs.fstatSync(fd),
      () => fstatByThread(fd),
    );
  }

  /** Stats of a path, following links; `undefined` if nothing exists. */
  stat(path: string): fs.Stats | undefined | Promise<fs.Stats | undefined> {
    return this.#act(
      () => fs.statSync(path, { throwIfNoEntry: false }),
      () => orAbsent(fs.promises.stat(path)),
    );
  }

  /** Syncs a file, always in a thread, because this waits for the disk itself. */
  sync(fd: number): Promise<void> {
    return syncByThread(fd);
  }

  /** Syncs a folder, so that files renamed into it survive a power cut. Concurrent calls share a sync. */
  syncFolder(path: string): Promise<void> {
    const sync = this.#folderSyncs.get(path) ?? coalesce(() => syncFolder(path));
    this.#folderSyncs.set(path, sync);
    return sync();
  }

  #act<T>(atOnce: () => T, byThread: () => Promise<T>): T | Promise<T> {
    const before = this.#now();
    if (before < this.#restsUntil) return byThread();
    try {
      return atOnce();
    } finally {
      const after = this.#now();
      this.#pace.took(after - before);
      if (this.#pace.isSlow) {
        this.#pace.forgive();
        this.#restsUntil = after + restMs;
      }
    }
  }
}

function readAllNow(fd: number, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  let read = 0;
  for (let more = -1; more !== 0 && read < size; read += more) more = fs.readSync(fd, bytes, read, size - read, read);
  return bytes.subarray(0, read);
}

async function readAll(fd: number, size: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(size);
  let read = 0;
  for (let more = -1; more !== 0 && read < size; read += more) {
    ({ bytesRead: more } = await readByThread(fd, bytes, read, size - read, read));
  }
  return bytes.subarray(0, read);
}

function writeAllNow(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    const more = fs.writeSync(fd, bytes, written);
    if (more === 0) throw new Error('the disk accepted no more bytes');
    written += more;
  }
}
