import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { gitProblem, gitProcess, gitRefusal, gitTimeoutMs, gitWords } from './git-command.ts';

const words = ['cat-file', '--batch'];

/**
 * Reads objects of a repository, one after the other, from one process of git. Objects are read as they are kept: no
 * filter, conversion or hook has a part in it.
 */
export class ObjectReader {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #error: Error | undefined;
  #err = '';
  #last: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.#child = spawn('git', gitWords(folder, words), gitProcess());
    this.#child.on('error', (error) => {
      this.#error = error;
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#err = `${this.#err}${text}`.slice(0, 10_000);
    });
    this.#pieces = this.#child.stdout[Symbol.asyncIterator]();
  }

  /** The bytes of an object, named by its id; undefined where there is none. Whoever asks knows that it is not too large. */
  read(id: string): Promise<Buffer | undefined> {
    return this.#inTurn(async () => {
      const size = await this.#ask(id);
      if (size === undefined) return undefined;
      const pieces: Buffer[] = [];
      await this.#take(size, (piece) => pieces.push(piece));
      return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    });
  }

  /** SHA-256 (hex) of its bytes, however many. */
  hash(id: string): Promise<string | undefined> {
    return this.#inTurn(async () => {
      const size = await this.#ask(id);
      if (size === undefined) return undefined;
      const hash = createHash('sha256');
      await this.#take(size, (piece) => hash.update(piece));
      return hash.digest('hex');
    });
  }

  close(): void {
    this.#child.stdin.end();
    this.#child.kill('SIGKILL');
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** The size of an object whose bytes follow. */
  async #ask(id: string): Promise<number | undefined> {
    this.#child.stdin.write(`${id}\n`);
    let header = '';
    await this.#until(0x0a, (text) => {
      header += text;
    });
    const size = /^[0-9a-f]+ [a-z]+ (\d+)$/.exec(header)?.[1];
    return size === undefined ? undefined : Number(size);
  }

  async #until(end: number, take: (text: string) => void): Promise<void> {
    for (;;) {
      const at = this.#rest.indexOf(end);
      take(this.#rest.toString('latin1', 0, at === -1 ? this.#rest.length : at));
      this.#rest = at === -1 ? await this.#next() : this.#rest.subarray(at + 1);
      if (at !== -1) return;
    }
  }

  /** Takes the bytes of an object, and the line feed after them. */
  async #take(size: number, take: (piece: Buffer) => void): Promise<void> {
    for (let left = size; left > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const piece = this.#rest.subarray(0, left);
      take(piece);
      left -= piece.length;
      this.#rest = this.#rest.subarray(piece.length);
    }
    await this.#until(0x0a, () => {});
  }

  async #next(): Promise<Buffer> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), gitTimeoutMs);
    try {
      const piece = await this.#pieces.next();
      if (!piece.done) return piece.value;
    } finally {
      clearTimeout(timer);
    }
    // Why it ended is told a moment after its output has.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#error !== undefined) throw gitProblem(this.#error, words);
    throw this.#child.killed ? gitProblem(new Error('killed'), words) : gitRefusal(words, this.#err);
  }
}
