import { closeSync, constants, fdatasync, openSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { coalesce } from '../fs/durable.ts';
import { noFollow, openPlainFile, statPlainFile } from '../fs/plain-file.ts';

const pieceBytes = 1 << 18;
const lineFeed = 0x0a;
const datasync = promisify(fdatasync);

/** Offset and length of a line in a file, in bytes. */
export interface LinePlace {
  at: number;
  size: number;
}

/** Reads the lines of a growing file. Reads the file in pieces, because JavaScript strings have a maximum length. */
export class LineReader {
  readonly #fd: number;
  #buffer = Buffer.allocUnsafe(pieceBytes);
  #position = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /**
   * Reads the lines that were added since the last call. Omits a last line without a line feed, because another process
   * may still be writing it. Reads synchronously: the file is in memory, and another thread would be slower.
   */
  readOn(each: (line: string, place: LinePlace) => void): void {
    for (;;) {
      const { length } = this.#buffer;
      const piece = this.#buffer.subarray(0, readSync(this.#fd, this.#buffer, 0, length, this.#position));
      let begin = 0;
      for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, begin)) {
        each(piece.toString('utf8', begin, end), { at: this.#position + begin, size: end - begin });
        begin = end + 1;
      }
      this.#position += begin;
      if (piece.length < length) return;
      if (begin === 0) this.#buffer = Buffer.allocUnsafe(2 * length);
    }
  }

  /** Reads a line again. Throws if the line is gone, because a run that does not know it would repeat a purchase. */
  lineAt({ at, size }: LinePlace): string {
    const bytes = Buffer.allocUnsafe(size + 1);
    const isWhole = readSync(this.#fd, bytes, 0, size + 1, at) === size + 1 && bytes[size] === lineFeed;
    if (!isWhole || bytes.subarray(0, size).includes(lineFeed)) {
      throw new Error('another program has shortened or replaced a file of recorded purchases: run again');
    }
    return bytes.toString('utf8', 0, size);
  }
}

/** File to which several processes append. Each batch is one write, so that all processes read the same order. */
export class SharedLines {
  /** File descriptor, -1 after the file is closed, because the system may reuse the number for another file. */
  #fd: number;
  readonly #reader: LineReader;
  readonly #flush = coalesce(() => this.#write());
  #waiting: string[] = [];

  constructor(path: string) {
    statPlainFile(path);
    this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | noFollow, 0o600);
    this.#reader = new LineReader(this.#fd);
  }

  /** Appends a line. Resolves when other processes can read the line. */
  append(line: string): Promise<void> {
    // A crash may have left an incomplete line, which the leading line feed ends.
    this.#waiting.push(`\n${line}\n`);
    return this.#flush();
  }

  readOn(each: (line: string, place: LinePlace) => void): void {
    this.#reader.readOn(each);
  }

  lineAt(place: LinePlace): string {
    return this.#reader.lineAt(place);
  }

  datasync(): Promise<void> {
    return datasync(this.#fd);
  }

  async close(): Promise<void> {
    await this.#flush().catch(() => undefined);
    const fd = this.#fd;
    this.#fd = -1;
    closeSync(fd);
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const text = this.#waiting.join('');
    this.#waiting = [];
    const bytes = Buffer.from(text);
    // After a partial write, the whole batch is written again, because an incomplete line is invalid.
    while (writeSync(this.#fd, bytes) < bytes.length);
  }
}

export async function readSharedLines<Result>(
  path: string,
  read: (lines: LineReader) => Result,
): Promise<Result | undefined> {
  const handle = await openPlainFile(path, constants.O_RDONLY);
  try {
    return handle && read(new LineReader(handle.fd));
  } finally {
    await handle?.close();
  }
}
