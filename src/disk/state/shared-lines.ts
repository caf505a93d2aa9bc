import { constants, readSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { coalesce } from '../fs/coalesce.ts';
import { noFollow, openPlainFile, statPlainFile } from '../fs/plain-file.ts';

const pieceBytes = 1 << 18;

/**
 * A file to which several processes append lines, each batch with one write, so that all processes read them in one
 * order. Lines are never removed.
 */
export class SharedLines {
  readonly #handle: FileHandle;
  readonly #buffer = Buffer.alloc(pieceBytes);
  readonly #decoder = new TextDecoder();
  readonly #flush = coalesce(() => this.#write());
  #position = 0;
  #rest = '';
  #waiting: string[] = [];

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(path: string): Promise<SharedLines> {
    statPlainFile(path);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | noFollow;
    return new SharedLines(await open(path, flags, 0o600));
  }

  /** Appends a line. Resolves when other processes can read it. */
  append(line: string): Promise<void> {
    // The leading line feed ends a line that a crash has cut off.
    this.#waiting.push(`\n${line}\n`);
    return this.#flush();
  }

  /** Reads the lines that any process has added since the last call. Calls must not overlap. */
  async readOn(each: (line: string) => void): Promise<void> {
    for (;;) {
      // Synchronous, like the write, because a round trip to a thread takes longer than the operation in the system's
      // memory.
      const bytesRead = readSync(this.#handle.fd, this.#buffer, 0, pieceBytes, this.#position);
      this.#position += bytesRead;
      const text = this.#rest + this.#decoder.decode(this.#buffer.subarray(0, bytesRead), { stream: true });
      const lines = text.split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) each(line);
      if (bytesRead < pieceBytes) return;
    }
  }

  datasync(): Promise<void> {
    return this.#handle.datasync();
  }

  async close(): Promise<void> {
    await this.#flush().catch(() => undefined);
    await this.#handle.close();
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const text = this.#waiting.join('');
    this.#waiting = [];
    const bytes = Buffer.from(text);
    // A partly written line is invalid, so the whole batch is written again, or the write fails with the disk's error.
    while (writeSync(this.#handle.fd, bytes) < bytes.length);
  }
}

/**
 * Reads the current lines of a shared file. An unterminated line is being written by another process, or was cut off,
 * and is omitted.
 */
export async function readSharedLines(path: string): Promise<string[]> {
  const handle = await openPlainFile(path, constants.O_RDONLY);
  try {
    return ((await handle?.readFile('utf8')) ?? '').split('\n').slice(0, -1);
  } finally {
    await handle?.close();
  }
}
