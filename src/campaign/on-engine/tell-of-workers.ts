import type { EngineToSee } from '../../cluster/open-engine.ts';
import { type Clock, systemClock } from '../../contract/clock.ts';
import type { EngineRun } from '../../contract/engine-state.ts';
import type { Tell } from '../../contract/notice.ts';
import { call, way } from '../../ground/advice.ts';

interface Telling {
  tell: Tell;
  /** Aborted when watching must stop. */
  signal: AbortSignal;
}

/** Polling interval in ms. */
const lookMs = 1000;
/**
 * Polls without a worker before a notice, because a new worker may wait for the store, and an ending worker hands over.
 */
const patience = 10;

/**
 * Shows a notice whenever the run has no suitable worker, because its screen would otherwise not change for no
 * visible reason.
 */
export async function tellOfNoWorker(
  { database, shown }: EngineToSee,
  {
    tell,
    signal,
    run,
    store,
    clock = systemClock,
  }: Telling & { run: string; store: string | undefined; clock?: Clock },
): Promise<void> {
  const { readEngineState } = await import('../../cluster/engine-state.ts');
  const place = store === undefined ? '' : ' with the same --store';
  const hint = way(`to start one, on any machine${place}`, call('worker'));
  for (let vain = 0; !signal.aborted; ) {
    const { runs } = await readEngineState(database, { isCounted: false });
    const own = runs.find(({ id }) => id === run);
    if (signal.aborted || own === undefined) return;
    const { lacks } = own;
    vain = lacks === undefined ? 0 : vain + 1;
    const text = lacks && lackTexts[lacks](shown);
    if (vain === patience && text !== undefined) tell({ is: 'notice', text, hint });
    await clock.sleep(lacks === undefined ? patience * lookMs : lookMs, signal);
  }
}

const unfit = (shown: string) =>
  `none of the workers of this account on ${shown} takes the run: each has another store, or another version; the run waits until one is started that fits`;

const lackTexts: { [lack in NonNullable<EngineRun['lacks']>]: (shown: string) => string } = {
  worker: (shown) => `no worker of this account runs on ${shown}: the run waits until one is started`,
  version: unfit,
  store: unfit,
  leader: (shown) => `no worker on ${shown} leads this account: creates wait until one does`,
};
