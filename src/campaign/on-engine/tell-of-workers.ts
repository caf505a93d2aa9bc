import { dirname, join, relative } from 'node:path';
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

/** Tells who does what on the embedded engine, in the state folder of a campaign, once that is settled: the screen of a run shows steps, whoever carries them out. */
export async function tellOfOwnWorkers(
  { database, account, shown }: EngineToSee,
  { tell, signal, state }: Telling & { state: string },
): Promise<void> {
  const folder = relative('', dirname(state));
  const { readEngineState } = await import('../../cluster/engine-state.ts');
  while (!signal.aborted) {
    const { workers } = await readEngineState(database);
    const own = workers.filter((worker) => worker.account === account && !worker.isSilent);
    const head = own.find(({ isHead }) => isHead);
    if (head !== undefined) {
      const hands = own.filter(({ files }) => files > 0).length;
      const some = own.length === 1 ? 'it fetches' : `${hands} of them ${hands === 1 ? 'fetches' : 'fetch'}`;
      const fetched = hands === 0 ? 'this command saves its files' : `${some} its files`;
      const text = `the run is in the database ${relative('', join(state, 'engine'))}, with ${own.length} ${own.length === 1 ? 'worker' : 'workers'}: process ${head.pid} is the head, which buys and waits; ${fetched}`;
      const there = folder === '' ? '' : `, in the folder ${folder}`;
      const hint = way(`to look at ${shown}${there}`, call('workers', '--engine', 'embedded'));
      return tell({ is: 'notice', text, hint });
    }
    await systemClock.sleep(lookMs, signal);
  }
}
