import { constants, readSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { coalesce } from '../fs/coalesce.ts';
import { noFollow, openPlainFile, statPlainFile } from '../fs/plain-file.ts';

const pieceBytes = 1 << 18;

/**
 * A file to which several processes append lines, each batch with one write, so that all read them in one order. Nothing is
 * ever removed from it.
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

  /** Resolves when other processes see the line. */
  append(line: string): Promise<void> {
    // What a crash cut off ends at the line feed before.
    this.#waiting.push(`\n${line}\n`);
    return this.#flush();
  }

  /** Reads the lines that were added since the last call, by any process. Calls must not overlap. */
  async readOn(each: (line: string) => void): Promise<void> {
    for (;;) {
      // Synchronous, like the write: a round trip to a thread costs more than what the system does in memory.
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
    // A line that the disk took a part of is void: the whole batch follows it, or the disk says why not.
    while (writeSync(this.#handle.fd, bytes) < bytes.length);
  }
}

/** Reads the lines of such a file as it is now. A line that is not ended is another process's, or was cut off. */
export async function readSharedLines(path: string): Promise<string[]> {
  const handle = await openPlainFile(path, constants.O_RDONLY);
  try {
    return ((await handle?.readFile('utf8')) ?? '').split('\n').slice(0, -1);
  } finally {
    await handle?.close();
  }
}
