import { constants, type WriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { noFollow } from '../fs/plain-file.ts';
import { prepareStateFolder } from './state-folder.ts';

/** Bytes that wait at most, and for how long, in ms. */
const mostWaiting = 1 << 16;
const flushMs = 1000;

/** History file of a run. Appended in the background, never synced: a killed process loses unwritten lines. */
export class RunJournal {
  readonly #stream: WriteStream;
  readonly #mostCharacters: number;
  readonly #timer: NodeJS.Timeout;
  #length = 0;
  /** Number of lines that were dropped because the file is full. */
  dropped = 0;

  private constructor(stream: WriteStream, mostCharacters: number) {
    this.#stream = stream;
    this.#mostCharacters = mostCharacters;
    this.#timer = setInterval(() => this.#flush(), flushMs).unref();
  }

  /**
   * Creates `name` below `folder` of the state folder. `onLost`: called once, at the first line that cannot be written;
   * later lines are dropped. Rejects with the system's error or `UnsafeFileError` if the file cannot be created.
   */
  static async create(
    state: string,
    folder: string,
    { name, mostCharacters, onLost }: { name: string; mostCharacters: number; onLost(error: unknown): void },
  ): Promise<RunJournal> {
    await prepareStateFolder(state, folder);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | noFollow;
    const handle = await open(join(state, folder, name), flags, 0o600);
    return new RunJournal(handle.createWriteStream().on('error', onLost), mostCharacters);
  }

  /** Appends `line`, given without its line feed. */
  add(line: string): void {
    if (this.#length + line.length > this.#mostCharacters) {
      this.dropped += 1;
      return;
    }
    this.#length += line.length + 1;
    if (!this.#stream.writable) return;
    // The first line is written at once, so that a full disk is noticed before the run spends; later ones are written
    // together, because each write costs system calls.
    const isFirst = this.#stream.bytesWritten === 0 && this.#stream.writableLength === 0;
    this.#stream.write(`${line}\n`, isFirst ? () => this.#stream.cork() : undefined);
    if (this.#stream.writableLength > mostWaiting) this.#flush();
  }

  #flush(): void {
    if (this.#stream.writableCorked === 0) return;
    this.#stream.uncork();
    this.#stream.cork();
  }

  /** Writes `last` even if the file is full, and closes it. Never rejects. */
  async close(last: string): Promise<void> {
    clearInterval(this.#timer);
    if (this.#stream.writable) this.#stream.end(`${last}\n`);
    await finished(this.#stream).catch(() => undefined);
  }
}
