import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Engine } from '../../cluster/open-engine.ts';
import type { ClusterSettings, RunHeader, Submission } from '../../cluster/runs/run-record.ts';
import type { Seal } from '../../cluster/seal.ts';
import type { Store, StoreFiles } from '../../cluster/store/store.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { GraphOutline } from '../../graph/graph.ts';
import type { Json } from '../../ground/json.ts';
import type { Lock } from '../../lock/record.ts';
import { writeLines } from '../../lock/write.ts';
import type { Plan, PlanRow } from '../../plan/plan.ts';
import type { WrittenPrices } from '../../plan/prices/prices.ts';
import type { CreateRoutes } from '../../service/create.ts';
import { type RunSettings, settle } from '../check-options.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { ownVersion } from '../own-version.ts';
import { userName } from '../person.ts';
import type { GivenOfRun } from './other-runs.ts';

/** Whether only this machine can carry a row out: an upload of a local file, or a rename in the local folder. */
export function isForThisMachine({ order }: PlanRow): boolean {
  return order !== undefined && (order.action === 'move' || order.file !== undefined);
}

/**
 * Makes the submission of a plan: everything that a head needs, without the rows that this machine carries out itself.
 */
export function submissionOf(
  plan: Plan,
  about: {
    account: string;
    manifest: string;
    store: string | null;
    lock: Lock;
    outline: GraphOutline;
    createRoutes: CreateRoutes;
    prices: WrittenPrices;
    settings: RunSettings;
    given: GivenOfRun;
    seal: Seal;
  },
): Submission {
  const { account, manifest, store, lock, outline, createRoutes, prices, settings, given, seal } = about;
  const orders = plan.rows.flatMap((row) => (row.order === undefined || isForThisMachine(row) ? [] : [row.order]));
  const header: RunHeader = {
    plan: {
      ...plan,
      rows: plan.rows.map((row): PlanRow => {
        const { order: _, later: __, asked: ___, ...shared } = row;
        return (isForThisMachine(row) ? { ...shared, action: 'keep' } : shared) as PlanRow;
      }),
    },
    orders: orders.length,
    outline: { tasks: outline.tasks, addresses: [...outline.addresses] },
    createRoutes: createRoutes as unknown as Json,
    prices,
    given,
  };
  return {
    id: randomUUID(),
    ...{ account, store, header, seal },
    campaign: plan.campaign,
    settings: settingsOf(plan, settings),
    totals: plan.totals,
    origin: { host: hostname(), user: userName() ?? '', manifest, version: ownVersion() },
    orders,
    // A function, because the lines are read again when the transaction has to be repeated.
    lines: { [Symbol.iterator]: () => linesOf(lock) },
  };
}

/** Lines of the steps without the header, because the engine knows the service of an account. */
function* linesOf(lock: Lock): Generator<string> {
  const lines = writeLines(lock);
  lines.next();
  yield* lines;
}

/**
 * Settings of a run on an engine, without `publish`, because the order of each post says whether it may be published.
 */
function settingsOf({ concurrency }: Plan, given: RunSettings): ClusterSettings {
  const { publish: _publish, ...settings } = settle(given);
  return { concurrency, ...settings };
}

/** Checks the store before the user is asked. Throws MB3705 unless it is a store or can become one. */
export async function checkStore(name: string): Promise<void> {
  await findStore(name);
}

/** Opens the store of this name. Undefined if there is none at its place yet. */
async function findStore(name: string): Promise<Store | undefined> {
  const [{ openStore }, { StoreMissingError }] = await Promise.all([
    import('../../cluster/store/store.ts'),
    import('../../cluster/store/store-marker.ts'),
  ]);
  return openStore(name, { makes: false }).catch((error: unknown) => {
    if (error instanceof StoreMissingError) return undefined;
    throw error;
  });
}

export async function makeStore(name: string): Promise<Store> {
  const { openStore } = await import('../../cluster/store/store.ts');
  return openStore(name, { makes: true });
}

/**
 * Store from which the files of a run are copied. `stay`: no copies were requested, so the files stay in the store;
 * undefined: the run has no store, and the attached client saves its files. Throws MB3705 for another store than the
 * run's.
 */
export async function storeOfRun(
  run: { id: string; campaign: string },
  { engine, name, tell }: { engine: Engine; name: string | undefined; tell: OpenCampaign['tell'] },
): Promise<StoreFiles | 'stay' | undefined> {
  const { readRun } = await import('../../cluster/runs/runs.ts');
  const record = await readRun(engine.database, run.id);
  if (record === undefined) return undefined;
  if (record.store === null) {
    if (name !== undefined)
      tell({
        is: 'notice',
        text: 'that run was submitted without --store: its files are saved here, while this watches',
      });
    return undefined;
  }
  if (name === undefined) {
    tell({ is: 'notice', text: 'no --store is given: files that workers put into the store of that run stay there' });
    return 'stay';
  }
  const store = await findStore(name);
  if (store?.id === record.store) return store.filesOf(run.campaign);
  throw new CampaignError({
    code: 'MB3705',
    message: `the run was submitted with another --store than ${name}`,
    hint: 'give that one; without --store the run is watched, and a later `apply` fetches its files. Nothing was sent',
  });
}
