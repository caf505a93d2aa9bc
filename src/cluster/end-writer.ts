import { setTimeout as wait } from 'node:timers/promises';
import type { StepEnd } from '../run/step-end.ts';
import type { Database } from './database.ts';
import type { Term } from './guarded.ts';
import { writeEnds } from './runs.ts';

/** In ms. Nobody waits for what the next head finds in the lines as well. */
const gatherMs = 50;

/** Puts on record how orders of a run have ended; those that come soon after one another share a statement. */
export class EndWriter {
  readonly #database: Database;
  readonly #term: Term & { run: string };
  readonly #onLost: (error: unknown) => void;
  #waiting: { name: string; end: StepEnd; then: () => void }[] = [];
  #busy: Promise<void> | undefined;

  /** `onLost`: called when they cannot be put on record; `HeadLostError` among the reasons. */
  constructor(database: Database, term: Term & { run: string }, onLost: (error: unknown) => void) {
    this.#database = database;
    this.#term = term;
    this.#onLost = onLost;
  }

  /** `then`: called when it is on record. */
  add(name: string, end: StepEnd, then: () => void = () => {}): void {
    this.#waiting.push({ name, end, then });
    this.#busy ??= this.#write();
  }

  /** Resolves when all of them are on record, or are lost. */
  async flush(): Promise<void> {
    while (this.#busy !== undefined) await this.#busy;
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await wait(gatherMs);
        const ended = this.#waiting;
        this.#waiting = [];
        await writeEnds(this.#database, this.#term, new Map(ended.map(({ name, end }) => [name, end])));
        for (const { then } of ended) then();
      }
    } catch (error) {
      this.#onLost(error);
    } finally {
      this.#busy = undefined;
    }
  }
}
