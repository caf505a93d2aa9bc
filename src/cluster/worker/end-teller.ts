import type { Clock } from '../../contract/clock.ts';
import type { WorkerNews } from '../../contract/engine-state.ts';
import { messageOf } from '../../ground/values.ts';
import type { Database } from '../database/database.ts';
import type { RunResultRecord } from '../runs/run-record.ts';
import { makeWakeUp } from '../wake-up.ts';
import { spread } from './worker-row.ts';

/** Tells somebody how a run has ended; rejects where nobody has heard it. */
export type TellEnd = (ended: RunResultRecord & { campaign: string }) => Promise<void>;

/** Time between two looks for ends that a head has not told, in ms: one that died. */
const lookMs = 30_000;

interface TellerOptions {
  db: Database;
  account: string;
  clock: Clock;
  tell(news: WorkerNews): void;
  tellEnd: TellEnd;
}

/**
 * Takes an end that is to be told for a minute, in which nobody else tells it: longer than all its tries take. Whoever dies
 * meanwhile leaves it to the next one; what nobody hears is told for an hour.
 */
const takeDue = `UPDATE mediabatch.run SET notice = now() + interval '1 minute'
  WHERE id = (SELECT id FROM mediabatch.run WHERE account = $1 AND state = 'ended' AND notice <= now()
      AND ended > now() - interval '1 hour' ORDER BY notice LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, campaign, result`;

/** Tells how the runs of an account have ended: those of this worker at once, those of a head that died soon. */
export class EndTeller {
  readonly #options: TellerOptions;
  readonly #wakeUp: ReturnType<typeof makeWakeUp>;

  constructor(options: TellerOptions) {
    this.#options = options;
    this.#wakeUp = makeWakeUp({ clock: options.clock, isFor: () => false });
  }

  /** A run has ended here. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Until the signal is aborted; what has ended by then is told. */
  async keepTelling(signal: AbortSignal): Promise<void> {
    const { db, clock } = this.#options;
    while (!signal.aborted) {
      if (db.awaySince === undefined) await this.tellDue();
      await this.#wakeUp.within(spread(clock, lookMs), signal);
    }
    if (db.awaySince === undefined) await this.tellDue();
  }

  async tellDue(): Promise<void> {
    const { db, account, tell, tellEnd } = this.#options;
    for (;;) {
      const [due] = await db.query<{ id: string; campaign: string; result: RunResultRecord }>(takeDue, [account]);
      if (due === undefined) return;
      const { id, campaign, result } = due;
      try {
        await tellEnd({ ...result, campaign });
        await db.query('UPDATE mediabatch.run SET notice = NULL WHERE id = $1', [id]);
      } catch (error) {
        tell({ is: 'not told', campaign, error: messageOf(error) });
      }
    }
  }
}
