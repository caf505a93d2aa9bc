import type { StepEnd } from '../run/step-end.ts';
import type { Database } from './database.ts';
import type { Term } from './guarded.ts';
import { writeEnds } from './runs.ts';

/** Puts on record how orders of a run have ended; those that come while one statement is under way share the next. */
export class EndWriter {
  readonly #database: Database;
  readonly #term: Term & { run: string };
  readonly #onLost: (error: unknown) => void;
  #waiting = new Map<string, StepEnd>();
  #busy: Promise<void> | undefined;

  /** `onLost`: called when they cannot be put on record; `HeadLostError` among the reasons. */
  constructor(database: Database, term: Term & { run: string }, onLost: (error: unknown) => void) {
    this.#database = database;
    this.#term = term;
    this.#onLost = onLost;
  }

  add(name: string, end: StepEnd): void {
    this.#waiting.set(name, end);
    this.#busy ??= this.#write();
  }

  /** Resolves when all of them are on record, or are lost. */
  async flush(): Promise<void> {
    while (this.#busy !== undefined) await this.#busy;
  }

  async #write(): Promise<void> {
    await Promise.resolve();
    try {
      while (this.#waiting.size > 0) {
        const ends = this.#waiting;
        this.#waiting = new Map();
        await writeEnds(this.#database, this.#term, ends);
      }
    } catch (error) {
      this.#onLost(error);
    } finally {
      this.#busy = undefined;
    }
  }
}
