import type { Sql } from './database.ts';
import { readEvents } from './events.ts';

/** What watchers of a run have been told so far. */
export interface Told {
  /** That it has begun. */
  isBegun: boolean;
  /** Addresses of steps whose end they know. */
  ended: ReadonlySet<string>;
  /** Addresses of rows that are not acted on. */
  left: ReadonlySet<string>;
}

/** The last events of a head that died are lost; what they said is on record elsewhere, and is told again. */
export async function readTold(sql: Sql, run: string): Promise<Told> {
  const ended = new Set<string>();
  const left = new Set<string>();
  let isBegun = false;
  for (let after: string | undefined; ; ) {
    const { events, next } = await readEvents(sql, run, after);
    if (events.length === 0) return { isBegun, ended, left };
    isBegun = true;
    for (const event of events) {
      if (event.event === 'step-finished') ended.add(event.address);
      else if (event.event === 'step-left') left.add(event.address);
      // Another attempt is told of again.
      else if (event.event === 'step-started') ended.delete(event.address);
    }
    after = next;
  }
}
