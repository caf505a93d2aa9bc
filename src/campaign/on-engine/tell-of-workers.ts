import { dirname, join, relative } from 'node:path';
import type { EngineToSee } from '../../cluster/open-engine.ts';
import { systemClock } from '../../contract/clock.ts';
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
/** Looks in which a worker shows up that was started with the run: it may have waited for the store. */
const patience = 10;

/** Tells that no worker takes the run: a screen would stay empty, and nobody would know why. */
export async function tellOfNoWorker(
  { database, shown }: EngineToSee,
  { tell, signal, run, store }: Telling & { run: string; store: string | undefined },
): Promise<void> {
  const { readEngineState } = await import('../../cluster/engine-state.ts');
  let all = 0;
  for (let look = 0; look < patience; look += 1) {
    const { runs, workers } = await readEngineState(database);
    const own = runs.find(({ id }) => id === run);
    const whys = workers.flatMap((worker) => (own === undefined || worker.isSilent ? [] : [whyNot(own, worker)]));
    if (own === undefined || whys.includes(undefined)) return;
    all = whys.filter((why) => why !== 'account').length;
    await systemClock.sleep(lookMs, signal);
    if (signal.aborted) return;
  }
  const place = store === undefined ? '' : ' with the same --store';
  const text =
    all === 0
      ? `no worker of this account runs on ${shown}: the run waits until one is started`
      : `none of the workers of this account on ${shown} takes the run: each has another store, or another version; the run waits until one is started that fits`;
  tell({ is: 'notice', text, hint: way(`to start one, on any machine${place}`, call('worker')) });
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
