/*
 * Files behind ports: lock, guard, outputs, inputs, git, state of the user.
 * Takes: paths, bytes, and values of `lock/`.
 * Returns: what is on disk, or durable writes: a complete old or new version, never a partial file (I9, I11).
 * Independent of: the service, prices, plans. No symbolic link is followed out of the manifest's folder (I23).
 */

import { createHash, type Hash } from 'node:crypto';
import { constants, fstatSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { LockChangedError } from '../../contract/errors.ts';
import type { LockFile } from '../../contract/ports.ts';
import { Batches } from '../../ground/batches.ts';
import { asRunLine, requireOneLine } from '../../lock/split-lines.ts';
import { syncFolder, writeAll } from '../fs/durable.ts';
import { noFollow, openPlainFile, readPlainFile } from '../fs/plain-file.ts';
import { replaceFile } from '../fs/replace.ts';
import { type Digest, readPieces } from '../outputs/hash-file.ts';

/**
 * Returns the lock's content, or `undefined` if the file is missing or larger than `mostBytes`. Throws
 * `UnsafeFileError` for a link.
 */
export async function readLockBytes(path: string, mostBytes = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> {
  return readPlainFile(path, mostBytes);
}

/**
 * Opens the lock for appending. Cuts off an incomplete last line, which begins at the byte offset `cutAt`. If the file
 * is missing, the first append creates it, with `header` as first line. `read`: digest of the content that the caller
 * has read, or `null` if the caller found no file. Rejects with `LockChangedError`, and changes nothing, if the file
 * now has other content.
 */
export async function openLockFile(
  path: string,
  options: { cutAt?: number; header: string; read?: Digest | null; platform?: NodeJS.Platform },
): Promise<LockFile> {
  const header = options.header.endsWith('\n') ? options.header : `${options.header}\n`;
  const file = new AppendedFile(path, header, options.platform ?? process.platform);
  await file.open(options);
  return file;
}

const pieceLength = 1 << 18;

function* piecesOf(lines: Iterable<string>): Generator<Uint8Array> {
  let waiting: string[] = [];
  let length = 0;
  for (const line of lines) {
    waiting.push(line);
    length += line.length;
    if (length < pieceLength) continue;
    yield Buffer.from(waiting.join(''));
    waiting = [];
    length = 0;
  }
  if (length > 0) yield Buffer.from(waiting.join(''));
}

class RunningDigest {
  readonly #hash = createHash('sha256');
  size = 0;

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.size += bytes.length;
  }

  get sha256(): string {
    return this.copyHash().digest('hex');
  }

  copyHash(): Hash {
    return this.#hash.copy();
  }
}

class AppendedFile implements LockFile {
  readonly path: string;
  readonly #header: string;
  readonly #platform: NodeJS.Platform;
  #handle: FileHandle | undefined;
  #own: { dev: number; ino: number } | undefined;
  #known = new RunningDigest();
  /** Bytes that are being written to the lock. If the write fails, the lock may contain a part of them. */
  #unsure: Uint8Array = new Uint8Array();
  readonly #lines = new Batches<string>({ write: (lines) => this.#writeLines(lines) });
  /**
   * Error of the first failed write. All later appends fail with this error, because the last line may be incomplete
   * and a second fsync proves nothing.
   */
  #failure: { error: unknown } | undefined;

  constructor(path: string, header: string, platform: NodeJS.Platform) {
    this.path = path;
    this.#header = header;
    this.#platform = platform;
  }

  async open({ cutAt, read }: { cutAt?: number; read?: Digest | null }): Promise<void> {
    const handle = await openPlainFile(this.path, constants.O_RDWR | constants.O_APPEND);
    if (handle === undefined) {
      if ((cutAt ?? 0) > 0 || (read ?? null) !== null) throw new LockChangedError(this.path);
      return;
    }
    this.#handle = handle;
    try {
      const { whole, last } = await this.#openTail(handle, cutAt ?? Number.POSITIVE_INFINITY);
      const isOther = read === null || (read !== undefined && !isDeepStrictEqual(whole, read));
      if (isOther || whole.bytes < (cutAt ?? 0)) throw new LockChangedError(this.path);
      const isTorn = this.#size < whole.bytes;
      if (isTorn) await handle.truncate(this.#size); // I12
      const isUnfinished = this.#size > 0 && last !== 0x0a;
      if (isUnfinished) this.#write('\n');
      if (isUnfinished || isTorn) await handle.sync();
    } catch (error) {
      await this.#closeHandle();
      throw error;
    }
  }

  async #openTail(handle: FileHandle, end: number): Promise<{ whole: Digest; last: number | undefined }> {
    let rest: Hash | undefined;
    let last: number | undefined;
    let bytes = 0;
    for await (const piece of readPieces(handle)) {
      const kept = piece.subarray(0, Math.max(0, end - bytes));
      this.#known.update(kept);
      last = kept.at(-1) ?? last;
      if (kept.length < piece.length) {
        rest ??= this.#known.copyHash();
        rest.update(piece.subarray(kept.length));
      }
      bytes += piece.length;
    }
    return { whole: { sha256: rest?.digest('hex') ?? this.#known.sha256, bytes }, last };
  }

  append(line: string): Promise<void> {
    return this.#lines.add(asRunLine(requireOneLine(line)));
  }

  replace(lines: Iterable<string>): Promise<void> {
    return this.#lines.alone(() => this.#replaceNow(lines));
  }

  async close(): Promise<void> {
    await this.#lines.idle();
    this.#failure ??= { error: new Error(`internal error: ${this.path} is closed`) };
    await this.#closeHandle();
  }

  async #writeLines(lines: readonly string[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      await this.#writeDurably(lines.join(''));
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  async #writeDurably(text: string): Promise<void> {
    if (this.#handle === undefined) return this.#create(text);
    this.#write(this.#size === 0 ? this.#header + text : text);
    await this.#handle.datasync(); // I2
    // If a program put another file at the lock's path, the next run would not find the written line.
    const named = statSync(this.path, { throwIfNoEntry: false });
    this.#own ??= fstatSync(this.#handle.fd);
    const isNamed = named?.ino === this.#own.ino && named.dev === this.#own.dev;
    if (!isNamed || named.size !== this.#size) throw new LockChangedError(this.path);
  }

  async #create(text: string): Promise<void> {
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | noFollow;
    this.#handle = await open(this.path, flags, 0o666);
    this.#write(this.#header + text);
    await this.#handle.sync();
    await syncFolder(dirname(this.path));
  }

  #write(text: string): void {
    if (this.#handle === undefined) throw new Error(`internal error: ${this.path} is not open`);
    const bytes = Buffer.from(text);
    this.#unsure = bytes;
    writeAll(this.#handle.fd, bytes);
    this.#unsure = new Uint8Array();
    this.#known.update(bytes);
  }

  async #replaceNow(lines: Iterable<string>): Promise<void> {
    if (this.#handle === undefined && this.#failure !== undefined) throw this.#failure.error;
    if (await this.#isChanged()) throw new LockChangedError(this.path);
    const written = new RunningDigest();
    const noted = function* () {
      for (const piece of piecesOf(lines)) {
        written.update(piece);
        yield piece;
      }
    };
    // Windows cannot replace an open file.
    if (this.#platform === 'win32') await this.#closeHandle();
    try {
      await replaceFile(this.path, noted());
      await this.#closeHandle();
      this.#known = written;
      this.#unsure = new Uint8Array();
    } finally {
      // After a failed replacement, the run appends further purchases to the old lock file.
      this.#handle ??= await openPlainFile(this.path, constants.O_RDWR | constants.O_APPEND);
    }
  }

  async #isChanged(): Promise<boolean> {
    const handle = await openPlainFile(this.path, constants.O_RDONLY);
    if (handle === undefined) return this.#size > 0;
    try {
      const known = new RunningDigest();
      let at = 0;
      for await (const piece of readPieces(handle)) {
        const ours = Math.min(piece.length, Math.max(0, this.#size - at));
        known.update(piece.subarray(0, ours));
        const begun = Math.max(0, at - this.#size);
        const rest = piece.subarray(ours);
        if (Buffer.compare(rest, this.#unsure.subarray(begun, begun + rest.length)) !== 0) return true;
        at += piece.length;
      }
      return at < this.#size || known.sha256 !== this.#known.sha256;
    } finally {
      await handle.close();
    }
  }

  get #size(): number {
    return this.#known.size;
  }

  async #closeHandle(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#own = undefined;
    await handle?.close();
  }
}
