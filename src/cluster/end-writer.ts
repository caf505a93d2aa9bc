import { setTimeout as wait } from 'node:timers/promises';
import { Batches } from '../ground/batches.ts';
import type { StepEnd } from '../run/step-end.ts';
import type { Database } from './database.ts';
import type { Term } from './guarded.ts';
import { writeEnds } from './runs.ts';

/** In ms. Nobody waits for what the next head finds in the lines as well. */
const gatherMs = 50;

interface Ended {
  id: string;
  end: StepEnd;
}

/** Puts on record how orders of a run have ended; those that come soon after one another share a statement. */
export class EndWriter {
  readonly #batches: Batches<Ended>;
  readonly #onLost: (error: unknown) => void;

  /** `onLost`: called when they cannot be put on record; `HeadLostError` among the reasons. */
  constructor(database: Database, term: Term & { run: string }, onLost: (error: unknown) => void) {
    this.#batches = new Batches({
      gather: () => wait(gatherMs),
      write: (ended) => writeEnds(database, term, new Map(ended.map(({ id, end }) => [id, end]))),
    });
    this.#onLost = onLost;
  }

  /** `then`: called when it is on record. */
  add(id: string, end: StepEnd, then: () => void = () => {}): void {
    this.#batches.add({ id, end }).then(then).catch(this.#onLost);
  }

  /** Resolves when all of them are on record, or are lost. */
  flush(): Promise<void> {
    return this.#batches.idle();
  }
}
