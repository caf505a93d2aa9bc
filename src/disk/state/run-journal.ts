import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { noFollow } from '../fs/plain-file.ts';
import { prepareStateFolder } from './state-folder.ts';

/** Lines are written when they come to this many characters, or after `flushMs`. */
const pieceLength = 1 << 16;
const flushMs = 1000;

/**
 * The file that a run's history is written to: lines are collected, appended in pieces, and never synced, so that a run
 * does not wait for them. What was not written when a process is killed is lost.
 */
export class RunJournal {
  readonly #handle: FileHandle;
  readonly #mostCharacters: number;
  readonly #onLost: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #waiting: string[] = [];
  #waitingLength = 0;
  #length = 0;
  #isLost = false;
  #work: Promise<void> = Promise.resolve();
  /** Number of lines left out because the file has all that it may. */
  dropped = 0;

  private constructor(handle: FileHandle, options: { mostCharacters: number; onLost(error: unknown): void }) {
    this.#handle = handle;
    this.#mostCharacters = options.mostCharacters;
    this.#onLost = options.onLost;
    this.#timer = setInterval(() => this.flush(), flushMs);
    this.#timer.unref();
  }

  /**
   * Creates `name` below `folder` of the state folder. `onLost`: called once, at the first line that the disk does not
   * take; later ones are ignored. Rejects with the system's error or `UnsafeFileError` when it cannot be created.
   */
  static async create(
    state: string,
    folder: string,
    options: { name: string; mostCharacters: number; onLost(error: unknown): void },
  ): Promise<RunJournal> {
    await prepareStateFolder(state, folder);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | noFollow;
    return new RunJournal(await open(join(state, folder, options.name), flags, 0o600), options);
  }

  /** `line`: without its line feed. */
  add(line: string): void {
    if (this.#isLost) return;
    if (this.#length + line.length > this.#mostCharacters) {
      this.dropped += 1;
      return;
    }
    this.#put(line);
    if (this.#waitingLength > pieceLength) this.flush();
  }

  /** Writes `last`, however much there is already, and closes the file. Never rejects. */
  async close(last: string): Promise<void> {
    clearInterval(this.#timer);
    this.#put(last);
    this.flush();
    await this.#work;
    await this.#handle.close().catch(() => undefined);
  }

  #put(line: string): void {
    this.#waiting.push(line);
    this.#waitingLength += line.length + 1;
    this.#length += line.length + 1;
  }

  /** Begins to write what has been collected. */
  flush(): void {
    if (this.#waiting.length === 0 || this.#isLost) return;
    const text = `${this.#waiting.join('\n')}\n`;
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#work = this.#work.then(async () => {
      if (this.#isLost) return;
      try {
        await this.#handle.appendFile(text);
      } catch (error) {
        this.#isLost = true;
        this.#onLost(error);
      }
    });
  }
}
