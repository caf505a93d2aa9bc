import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { DiskPace } from './disk-pace.ts';
import { renameFile, writeAll } from './durable.ts';
import { orAbsent } from './plain-file.ts';

/** What the system does in memory takes a hundredth of `quickMs`; on a machine with much else to do it may take as long. */
const pace = { quickMs: 2, patienceMs: 200 };
/** So long threads do everything before the disk is tried again. */
const restMs = 5000;

const openByThread = promisify(fs.open);
const closeByThread = promisify(fs.close);
const syncByThread = promisify(fs.fsync);
const fstatByThread = promisify(fs.fstat);

/**
 * What is done to files over and over, by descriptor. As long as the system does it without delay, it is done at once: to
 * hand an act to a thread and to wait for it costs more than most acts do, and threads that make files in one folder wait
 * for each other. A disk that makes its users wait gets threads, so that nothing else of this process waits with them.
 * Everything throws, or rejects, with what the system says; a promise is only there to be waited for.
 */
export class PacedDisk {
  readonly #now: () => number;
  readonly #pace = new DiskPace(pace);
  #restsUntil = Number.NEGATIVE_INFINITY;

  /** `now`: in ms, from any point. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  open(path: string, flags: number, mode: number): number | Promise<number> {
    return this.#act(
      () => fs.openSync(path, flags, mode),
      () => openByThread(path, flags, mode),
    );
  }

  /** All of `bytes` where the file is at, or at its end if it was opened so. */
  write(fd: number, bytes: Uint8Array): void | Promise<void> {
    return this.#act(
      () => writeAllNow(fd, bytes),
      () => writeAll(fd, bytes),
    );
  }

  close(fd: number): void | Promise<void> {
    return this.#act(
      () => fs.closeSync(fd),
      () => closeByThread(fd),
    );
  }

  rename(from: string, to: string): void | Promise<void> {
    // There another program may be in the way for a moment, and patience is needed.
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

  /** Links are followed; undefined when there is nothing. */
  stat(path: string): fs.Stats | undefined | Promise<fs.Stats | undefined> {
    return this.#act(
      () => fs.statSync(path, { throwIfNoEntry: false }),
      () => orAbsent(fs.promises.stat(path)),
    );
  }

  /** Always by a thread: this waits for the disk itself. */
  sync(fd: number): Promise<void> {
    return syncByThread(fd);
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

function writeAllNow(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    const more = fs.writeSync(fd, bytes, written);
    if (more === 0) throw new Error('the disk took no more bytes');
    written += more;
  }
}
