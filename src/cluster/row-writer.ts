import type { Database } from './database.ts';
import { type Term, writeAsHead } from './guarded.ts';

interface Waiting {
  text: string;
  resolve(): void;
  reject(error: unknown): void;
}

/** Characters of one row at most. */
const mostCharacters = 1 << 20;

/**
 * Appends texts to a table in order: those that wait share a row and a statement. Rows are numbered by their writer, so one
 * whose answer was lost is not written twice. The first failure sticks: what came after it is not known to be in order.
 */
export class RowWriter {
  readonly #database: Database;
  readonly #term: Term;
  readonly #statement: string;
  readonly #run: string;
  /** From a number of its own: two writers of one run and epoch are not taken for one. */
  #no = Math.floor(Math.random() * 2 ** 32) * 2 ** 20;
  #waiting: Waiting[] = [];
  #busy: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;

  /** `statement`: guarded; takes account, epoch, run, number and text. */
  constructor(database: Database, { run, ...term }: Term & { run: string }, statement: string) {
    this.#database = database;
    this.#term = term;
    this.#run = run;
    this.#statement = statement;
  }

  /** Resolves when it is durable. */
  append(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      this.#busy ??= this.#writeWaiting();
    });
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#busy !== undefined) await this.#busy;
  }

  /** Nothing is appended any more. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  async #writeWaiting(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      try {
        if (this.#failure !== undefined) throw this.#failure.error;
        this.#no += 1;
        const values = [this.#run, this.#no, batch.map(({ text }) => text).join('')];
        await writeAsHead(this.#database, this.#term, this.#statement, values);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#failure ??= { error };
        for (const { reject } of batch) reject(error);
      }
    }
    this.#busy = undefined;
  }

  #takeBatch(): Waiting[] {
    let characters = 0;
    let count = 0;
    for (const { text } of this.#waiting) {
      characters += text.length;
      if (count > 0 && characters > mostCharacters) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }
}
