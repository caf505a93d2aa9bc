import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Engine, EngineToSee } from '../../cluster/open-engine.ts';
import type { RunHeader, RunRecord, Submission } from '../../cluster/runs/run-record.ts';
import type { Seal } from '../../cluster/seal.ts';
import type { Store, StoreFiles } from '../../cluster/store/store-marker.ts';
import { type Clock, systemClock } from '../../contract/clock.ts';
import type { EngineRun } from '../../contract/engine-state.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Tell } from '../../contract/notice.ts';
import { readEngineNote, readSeenOnEngine, removeEngineNote, writeEngineNote } from '../../disk/lock/engine-note.ts';
import type { Graph, GraphOutline } from '../../graph/graph.ts';
import { type Advice, call, way } from '../../ground/advice.ts';
import type { Json } from '../../ground/json.ts';
import { joinLocks } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import { closedSends, isOpenSend } from '../../lock/sends.ts';
import { writeLines } from '../../lock/write.ts';
import type { Plan, PlanRow } from '../../plan/plan.ts';
import type { WrittenPrices } from '../../plan/prices/prices.ts';
import type { CreateRoutes } from '../../service/create.ts';
import { requireAccess } from '../environment.ts';
import { holdGuard } from '../hold-guard.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { type RunSettings, settle } from '../option-table.ts';
import { ownVersion } from '../own-version.ts';
import { userName } from '../person.ts';
import { requireLock } from '../read-lock.ts';
import type { ApplyTerms } from '../run.ts';
import { lockOfRun } from './engine-run.ts';

/** Whether only this machine can carry a row out: an upload of a local file, or a rename in the local folder. */
export function isForThisMachine({ order }: PlanRow): boolean {
  return order !== undefined && (order.action === 'move' || order.file !== undefined);
}

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
    seal: Seal;
  },
): Submission {
  const { account, manifest, store, lock, outline, createRoutes, prices, settings, seal } = about;
  const { publish: _publish, ...ofRun } = settle(settings);
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
  };
  return {
    id: randomUUID(),
    ...{ account, store, header, seal },
    campaign: plan.campaign,
    // The order of each post says whether it may be published.
    settings: { ...ofRun, concurrency: plan.concurrency },
    totals: plan.totals,
    origin: { host: hostname(), user: userName() ?? '', manifest, version: ownVersion() },
    orders,
    // A function, because the lines are read again when the transaction has to be repeated.
    lines: {
      *[Symbol.iterator]() {
        // The header is left out, because the engine has the service of an account.
        const lines = writeLines(lock);
        lines.next();
        yield* lines;
      },
    },
  };
}

/** Opens the store before the user is asked. Undefined if there is none at its place yet. */
export async function findStore(name: string): Promise<Store | undefined> {
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
 * Returns the store from which the files of a run are copied. `stay`: no copies were requested, so the files stay in
 * the store. Undefined: the run has no store, and the attached client saves its files. Throws MB3705 for another store
 * than the run's.
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
    hint: 'give that store; without --store the run is watched, and a later `apply` fetches its files. Nothing was sent',
  });
}

export function refuseHere({ sandbox }: OpenCampaign, { review }: Pick<ApplyTerms, 'review'>): void {
  const refuse = (options: string[], message: string, hint: Advice) => {
    throw new CampaignError({ code: 'MB3000', message, hint, options });
  };
  if (review === true) {
    const message = '--review and --engine cannot be combined: with an engine, gates are decided between two runs';
    refuse(['--review', '--engine'], message, 'leave --review out, or the engine (--engine, MEDIABATCH_ENGINE)');
  }
  if (sandbox) {
    const message = '--sandbox and --engine cannot be combined: workers do not reach the service in this process';
    refuse(['--sandbox', '--engine'], message, way('remove --sandbox, and use this service', call('sandbox')));
  }
}

export function refuseOtherEngine(note: { engine: string; account: string }, { shown, account }: Engine): void {
  if (note.engine === shown && note.account === account) return;
  const other = note.engine === shown ? 'with another key, or for another address of the service' : `on ${note.engine}`;
  throw new CampaignError({
    code: 'MB3704',
    message: `this campaign has a run ${other}`,
    hint: 'attach to that run first; nothing was sent',
    lock: note.engine,
  });
}

export function lostRun(run: string, { shown }: Engine): CampaignError {
  return new CampaignError({
    code: 'MB3702',
    message: `${shown} does not know the run ${run}, which this campaign was submitted as`,
    hint: [
      'nothing was sent; if its database was recreated, what the run has bought since is in no lock',
      way('to see it', call('list jobs', '--unknown')),
      way('to release the campaign', call('unlock', '--id', run)),
    ],
  });
}

function isOfGraph({ outline }: RunHeader, { steps }: Pick<Graph, 'steps'>): boolean {
  const theirs = new Set(outline.addresses);
  return steps.some(({ address }) => theirs.has(address));
}

/**
 * Throws MB3704 when the run belongs to another campaign of the same name, because its lines must not be added to
 * this lock.
 */
export function refuseNamesake(
  header: RunHeader,
  graph: Graph,
  { run, engine }: { run: RunRecord; engine: Engine },
): void {
  if (isOfGraph(header, graph)) return;
  const { campaign, origin } = run;
  throw new CampaignError({
    code: 'MB3704',
    message: `another campaign named ${campaign} has an open run on ${engine.shown}: ${origin.host}:${origin.manifest}, with none of these steps`,
    hint: 'idempotency keys contain the campaign name: rename one of the two campaigns, or wait until that run has ended. Nothing was sent',
    lock: engine.shown,
  });
}

interface Telling {
  tell: Tell;
  signal: AbortSignal;
}

const lookMs = 1000;
/**
 * Number of polls without a worker before a notice, because a new worker may wait for the store, and an ending worker
 * hands over.
 */
const patience = 10;

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
  `none of the workers of this account on ${shown} can carry out the run: their store or version differs; the run waits for a worker that has both`;

const lackTexts: { [lack in NonNullable<EngineRun['lacks']>]: (shown: string) => string } = {
  worker: (shown) => `no worker of this account runs on ${shown}: the run waits until one is started`,
  version: unfit,
  store: unfit,
  leader: (shown) => `no worker on ${shown} leads this account: creates wait until one does`,
};

const mostNamesakes = 10;

/**
 * Finds the latest ended run of this campaign on the engine with purchases that this lock lacks. Its submitter
 * detached before the end, and that clone may no longer exist.
 */
export async function findUnseenRun(
  { database, account }: Engine,
  campaign: OpenCampaign,
  graph: Pick<Graph, 'name' | 'steps'>,
): Promise<RunRecord | undefined> {
  const [{ lastEndedRuns }, { readHeader }, seal] = await Promise.all([
    import('../../cluster/runs/runs.ts'),
    import('../../cluster/runs/run-record.ts'),
    sealOf(campaign),
  ]);
  const ended = await lastEndedRuns(database, { account, campaign: graph.name, most: mostNamesakes });
  let lock: Lock | undefined;
  for (const run of ended) {
    if (!isOfGraph(await readHeader(database, seal, run), graph)) continue;
    // Notices about the lock are shown when it is read for the run.
    lock ??= (await requireLock({ ...campaign, tell: () => {} }, campaign.service, { serviceMoved: true })).lock;
    // A newer run of another clone may lack the purchases of an older one.
    if (hasNews(await lockOfRun(database, run.id), lock)) return run;
  }
  return undefined;
}

/** Returns whether a lock has a purchase that another lacks, whatever its state there. */
export function hasNews(lock: Lock, known: Lock): boolean {
  const purchases = [...known.steps.values()].flatMap((record) => record.purchases);
  const [jobs, keys] = [new Set(purchases.map(({ jobId }) => jobId)), new Set(purchases.map(({ key }) => key))];
  const closed = closedSends(known);
  return [...lock.steps.values()].some((record) =>
    record.purchases.some((purchase) => {
      if (purchase.jobId !== undefined) return !jobs.has(purchase.jobId);
      // An answered send is recorded as a job with the same idempotency key.
      return isOpenSend(purchase) && !keys.has(purchase.key) && !closed.has(purchase.send);
    }),
  );
}

export async function headerOf(
  { engine, campaign }: Pick<Where, 'engine' | 'campaign'>,
  run: RunRecord,
): Promise<RunHeader> {
  const [{ readHeader }, { requireOwnProtocol }] = await Promise.all([
    import('../../cluster/runs/run-record.ts'),
    import('../../cluster/runs/runs.ts'),
  ]);
  requireOwnProtocol(run);
  return readHeader(engine.database, await sealOf(campaign), run);
}

interface Where {
  engine: Engine;
  campaign: OpenCampaign;
  options: Pick<ApplyTerms, 'lockTimeoutMs'>;
  graph: Graph;
}

export async function refuseAnother({ engine, campaign, graph }: Where, id: string): Promise<void> {
  const { readRun } = await import('../../cluster/runs/runs.ts');
  const run = await readRun(engine.database, id);
  if (run === undefined) return;
  try {
    refuseNamesake(await headerOf({ engine, campaign }, run), graph, { run, engine });
  } catch (error) {
    await removeEngineNote(campaign.paths.lock);
    throw error;
  }
}

/**
 * Removes the note of a submission that did not reach the engine. The caller holds the lock, so no submission is in
 * progress.
 */
export async function forgetSubmit({ engine, campaign, options }: Omit<Where, 'graph'>, run: string): Promise<void> {
  const { paths, tell } = campaign;
  const { readRun } = await import('../../cluster/runs/runs.ts');
  const guard = await holdGuard(paths.lock, options.lockTimeoutMs ?? 0, tell, { forEngine: true });
  try {
    const isStill = readEngineNote(paths.lock)?.run === run;
    if (isStill && (await readRun(engine.database, run)) === undefined) await removeEngineNote(paths.lock);
  } finally {
    await guard.release();
  }
}

export async function noteRun(
  { engine, campaign }: Pick<Where, 'engine' | 'campaign'>,
  run: string,
  { submitted, since }: { submitted: boolean; since: Date },
): Promise<void> {
  const { account, shown } = engine;
  await writeEngineNote(campaign.paths.lock, { run, account, engine: shown, since: since.toISOString(), submitted });
}

export async function sealOf({ environment }: Pick<OpenCampaign, 'environment'>): Promise<Seal> {
  const { makeSeal } = await import('../../cluster/seal.ts');
  return makeSeal(requireAccess(environment).token);
}

type Run = Pick<RunRecord, 'id' | 'error' | 'server'>;

/**
 * Sends the purchases that only the local lock has to an open run. The engine lacks them if its database was restored
 * from an older copy, or if they came here by git. A run that was put aside after an error gets all lines, and is tried
 * again.
 */
export async function giveBackLost(
  { engine, campaign }: { engine: Pick<Engine, 'database' | 'shown'>; campaign: Pick<OpenCampaign, 'paths' | 'tell'> },
  run: Run,
  lock: Lock,
): Promise<void> {
  const { database, shown } = engine;
  const record = await lockOfRun(database, run.id);
  const found = await compareRecord(database, run, { path: campaign.paths.lock, known: () => joinLocks(lock, record) });
  if (found.is === 'as it was' && run.error === null && !hasNews(lock, record)) return; // I46 (given)
  const { giveBack } = await import('../../cluster/runs/runs.ts');
  const [, ...lines] = writeLines(lock);
  await giveBack(database, { id: run.id, server: found.server }, lines);
  campaign.tell({ is: 'notice', ...wordsFor(found.is, { shown, isAside: run.error !== null }) });
}

type Found = 'as it was' | 'an older copy, and known here' | 'an older copy';

/**
 * Compares a run's record with what this client has seen of it. `server`: database server to note as one that has the
 * complete record.
 */
async function compareRecord(
  database: Engine['database'],
  { id, server }: Run,
  { path, known }: { path: string; known(): Lock },
): Promise<{ is: Found; server: string | null }> {
  const [{ countJobs, isSameServer, whichServer }, { countLines }] = await Promise.all([
    import('../../cluster/store/run-mark.ts'),
    import('../../cluster/head/rows.ts'),
  ]);
  const now = await whichServer(database);
  const last = readSeenOnEngine(path);
  const seen = last?.run === id ? last : undefined;
  const isMoved = !isSameServer(server, now);
  const isShort = seen !== undefined && (await countLines(database, id, seen.epoch)) < seen.lines; // I46 (seen)
  if (!isMoved && !isShort) return { is: 'as it was', server };
  // A client that first saw the run after the copy was restored has no more lines than the copy.
  const isKnown = seen !== undefined && isSameServer(server, seen.server) && countJobs(known()) >= seen.jobs; // I46 (vouched)
  if (isKnown) return { is: 'an older copy, and known here', server: now };
  return { is: 'an older copy', server: isMoved ? server : null };
}

function wordsFor(found: Found, { shown, isAside }: { shown: string; isAside: boolean }) {
  if (found === 'an older copy') {
    return {
      text: `${shown} has an older copy of this run, or another server took over, and this lock may not have all its records: its workers buy nothing more for it unless its store shows that nothing is missing`,
      hint: [
        'to restore missing records, apply in the clone that watched the run',
        way('to list purchases that no lock contains', call('list jobs', '--unknown')),
      ],
    };
  }
  const why = isAside ? 'had put the run aside' : 'did not have all purchases';
  return { text: `${shown} ${why}: it received the records of this lock, and its workers continue from there` };
}
