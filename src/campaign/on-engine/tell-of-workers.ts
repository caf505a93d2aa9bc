import type { EngineToSee } from '../../cluster/open-engine.ts';
import { type Clock, systemClock } from '../../contract/clock.ts';
import { whyNot } from '../../contract/engine-state.ts';
import type { Tell } from '../../contract/notice.ts';
import { call, way } from '../../ground/advice.ts';

interface Telling {
  tell: Tell;
  /** Aborted: nobody watches any more. */
  signal: AbortSignal;
}

/** Time between two looks, in ms. */
const lookMs = 1000;
/** Looks without a worker after which that is told: one that was started with the run may have waited for the store, and one that ends hands over. */
const patience = 10;

/** Tells each time that no worker takes the run, or none is left: a screen would stand still, and nobody would know why. */
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
    const { runs, workers } = await readEngineState(database);
    const own = runs.find(({ id }) => id === run);
    if (signal.aborted || own === undefined) return;
    const whys = workers.flatMap((worker) => (worker.isSilent ? [] : [whyNot(own, worker)]));
    const isTaken = whys.includes(undefined);
    vain = isTaken ? 0 : vain + 1;
    const text = whys.every((why) => why === 'account')
      ? `no worker of this account runs on ${shown}: the run waits until one is started`
      : `none of the workers of this account on ${shown} takes the run: each has another store, or another version; the run waits until one is started that fits`;
    if (vain === patience) tell({ is: 'notice', text, hint });
    await clock.sleep(isTaken ? patience * lookMs : lookMs, signal);
  }
}
