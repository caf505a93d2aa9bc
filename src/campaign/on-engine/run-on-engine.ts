import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { readLimit } from '../../cluster/leader/account-spending.ts';
import { type Engine, openEngine } from '../../cluster/open-engine.ts';
import { type RunHeader, type RunRecord, readHeader, type Submission } from '../../cluster/runs/run-record.ts';
import { findOpenRun, readRun, requireOwnProtocol, submitRun } from '../../cluster/runs/runs.ts';
import { makeSeal, type Seal } from '../../cluster/seal.ts';
import { openStore } from '../../cluster/store/store.ts';
import type { StoreFiles } from '../../cluster/store/store-marker.ts';
import { systemClock } from '../../contract/clock.ts';
import type { RunEvent } from '../../contract/event.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Notice, Notify } from '../../contract/notice.ts';
import type { SpendingLeft } from '../../contract/spending.ts';
import { readEngineNote, removeEngineNote, writeEngineNote } from '../../disk/lock/engine-note.ts';
import type { Graph } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import type { Json } from '../../ground/json.ts';
import type { Scope } from '../../ground/scope.ts';
import { writeLines } from '../../lock/write.ts';
import type { Plan, PlanRow } from '../../plan/plan.ts';
import { adviceLines, shellWord } from '../../report/advice-text.ts';
import { type Access, requireAccess, requireService } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { type RunSettings, settle, wrongOptions } from '../option-table.ts';
import { ownVersion } from '../own-version.ts';
import { userName } from '../person.ts';
import { holdGuard, type LoadedLock, requireLock } from '../read-lock.ts';
import type { ApplyTerms, EngineChoice, Executor, LockedPlan, Running, RunResult, Watching } from '../run.ts';
import { runningLocally } from '../run-locally.ts';
import { findStore, storeOfRun } from './files-of-run.ts';
import { findUnseenRun, isOfGraph, sendMissingRecords } from './record-of-run.ts';
import { unknownRun, watchOnEngine } from './watch-engine.ts';

interface Ground {
  engine: Engine;
  access: Access;
  campaign: OpenCampaign;
  notifier: ReturnType<typeof makeRunNotifier>;
  options: ApplyTerms & { engine: EngineChoice };
  graph: Graph;
  scope: Scope;
  leaving: AbortController;
}

interface Found extends Pick<RunRecord, 'id' | 'store'> {
  plan: Plan;
  outline: LockedPlan['outline'];
  loaded: LoadedLock;
  isOpen: boolean;
}

/** Returns an executor that submits steps to an engine, but uploads local files and renames files on this machine. */
export async function engineExecutor(
  opened: OpenCampaign,
  graph: Graph,
  { terms: options, scope }: { terms: Ground['options']; scope: Scope },
): Promise<Executor> {
  const notifier = makeRunNotifier(opened.notify, systemClock.now);
  const { notify } = notifier;
  refuseUnsupported(opened, options);
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  const access = requireAccess(opened.environment);
  const engine = await openEngine(options.engine.url, access, {
    onUnreachable: (error) =>
      notify({ is: 'notice', text: `the engine does not answer: ${error.message}; the run waits for the engine` }),
    onBack: () => notify({ is: 'notice', text: 'the engine answers again' }),
    signal: leaving.signal,
  });
  scope.add(() => engine.close());
  const engineLimit = await readLimit(engine.database, engine.account);
  const campaign = { ...opened, notify };
  return new EngineCarrier({ engine, access, campaign, notifier, options, graph, scope, leaving }, engineLimit);
}

class EngineCarrier implements Executor {
  readonly limitThere: SpendingLeft | undefined;
  readonly #ground: Ground;
  readonly #seal: Seal;
  #isDetached = false;

  constructor(ground: Ground, limitThere: SpendingLeft | undefined) {
    this.#ground = ground;
    this.#seal = makeSeal(ground.access.token);
    this.limitThere = limitThere;
  }

  /**
   * Attaches to the run that this clone submitted, or to another clone's run if that run is open or has jobs that are
   * missing from this lock.
   */
  async attach(): Promise<Running | undefined> {
    const { engine, campaign, options, graph, scope } = this.#ground;
    const { database, account } = engine;
    const { paths, notify } = campaign;
    const note = readEngineNote(paths.lock);
    if (note !== undefined) refuseOtherEngine(note, engine);
    const noted = note && (await readRun(database, note.run));
    if (note !== undefined && noted === undefined) {
      if (note.submitted) throw unknownRun(note.run, engine.shown, 'nothing was sent; ');
      await forgetSubmit(engine, campaign, { run: note.run, waitMs: options.lockTimeoutMs ?? 0 });
    }
    const run =
      noted ?? (await findOpenRun(database, account, graph.name)) ?? (await findUnseenRun(engine, campaign, graph));
    if (run === undefined) {
      // An unusable store is reported before the user is asked for approval.
      if (options.engine.store !== undefined) await findStore(options.engine.store);
      return undefined;
    }
    const header = await this.#headerOf(run);
    if (noted === undefined) refuseNamesake(header, run, graph, engine.shown);
    const guard = await holdGuard(paths.lock, options.lockTimeoutMs ?? 0, notify, { forEngine: true });
    scope.add(() => guard.release());
    return this.#attachTo(run, header, await requireLock(campaign, campaign.service));
  }

  async start(plan: Plan, held: LockedPlan): Promise<Running | { result: RunResult }> {
    const { access, campaign, options } = this.#ground;
    const rows = plan.rows.filter(isForThisMachine);
    if (!plan.rows.some((row) => row.order !== undefined && !isForThisMachine(row)))
      return runningLocally(plan, campaign, { options, held, access: rows.length > 0 ? access : undefined });
    await requireService(access, campaign.notify);
    if (rows.length === 0) return this.#submit(plan, held);
    const running = runningLocally({ ...plan, rows }, campaign, { options, held, access });
    const result = await running.watch({ on: () => {} });
    if (result.exit !== exitCodes.done) return { result };
    return this.#submit(plan, { ...held, loaded: await requireLock(campaign, campaign.service) });
  }

  async #submit(plan: Plan, held: LockedPlan): Promise<Running> {
    const { engine, campaign, options, graph } = this.#ground;
    const { database, boss, account } = engine;
    const { loaded, outline } = held;
    const { store: name } = options.engine;
    const store = name === undefined ? null : (await openStore(name, { makes: true })).id;
    const { manifest, lock } = campaign.paths;
    const submission = submissionOf(plan, held, { account, manifest, store, settings: options, seal: this.#seal });
    await this.#note(submission.id, { submitted: false });
    const submitting = submitRun(database, boss, submission);
    const { id, attached } = await submitting.catch(async (error: unknown) => {
      // After a `CampaignError`, the engine does not have the run. After another error, the engine may have the run.
      if (error instanceof CampaignError) await removeEngineNote(lock);
      throw error;
    });
    if (!attached) {
      await this.#note(id, { submitted: true });
      return this.#watch({ id, store, plan, outline, loaded, isOpen: true });
    }
    // Another clone submitted this campaign between the call of `attach` and this transaction.
    await removeEngineNote(lock);
    const theirs = await readRun(database, id);
    if (theirs === undefined) throw unknownRun(id, engine.shown, 'nothing was sent; ');
    const header = await this.#headerOf(theirs);
    refuseNamesake(header, theirs, graph, engine.shown);
    return this.#attachTo(theirs, header, loaded);
  }

  #headerOf(run: RunRecord): Promise<RunHeader> {
    requireOwnProtocol(run);
    return readHeader(this.#ground.engine.database, this.#seal, run);
  }

  async #note(run: string, { submitted, since = new Date(systemClock.now()) }: { submitted: boolean; since?: Date }) {
    const { engine, campaign } = this.#ground;
    const { account, shown } = engine;
    await writeEngineNote(campaign.paths.lock, { run, account, engine: shown, since: since.toISOString(), submitted });
  }

  async #attachTo(run: RunRecord, { plan, outline }: RunHeader, loaded: LoadedLock): Promise<Running> {
    const { engine, campaign } = this.#ground;
    const { notify, paths } = campaign;
    const { id, store } = run;
    const isOpen = run.state === 'open';
    await this.#note(id, { submitted: true, since: run.submitted });
    notify({ is: 'notice', text: attachedText(run, engine.shown) });
    if (isOpen) await sendMissingRecords(engine, run, { lock: loaded.lock, path: paths.lock, notify });
    const { tasks, addresses } = outline;
    return this.#watch({ id, store, plan, outline: { tasks, addresses: new Set(addresses) }, loaded, isOpen });
  }

  async #watch(found: Found): Promise<Running> {
    const { engine, campaign, options, scope } = this.#ground;
    const { id, store, plan } = found;
    const files = await storeOfRun({ campaign: plan.campaign, store }, options.engine.store, campaign.notify);
    const from = files === 'stay' ? undefined : files;
    // The scope disposes its resources in reverse order, so the notice is printed after the progress display has ended.
    scope.add(() => {
      if (this.#isDetached) campaign.notify({ is: 'notice', text: detachedText(engine.shown) });
    });
    return {
      plan,
      isWork: true,
      engineRun: id,
      filesStay: files === 'stay',
      watch: (observer) => this.#watchUntilLeft(found, from, observer),
    };
  }

  async #watchUntilLeft(
    { id: run, plan, outline, loaded, isOpen }: Found,
    store: StoreFiles | undefined,
    { on, signal, stray }: Watching,
  ): Promise<RunResult> {
    const { engine, access, campaign, notifier, options, leaving } = this.#ground;
    const leave = () => leaving.abort();
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted) leave();
    stray?.first.then(leave);
    try {
      const result = await watchOnEngine(engine, campaign, {
        ...{ run, outline, loaded, store, storeName: options.engine.store, signal: leaving.signal },
        name: plan.campaign,
        access: isOpen ? access : undefined,
        on: notifier.from(on),
      });
      if (stray?.seen !== undefined) throw stray.seen.error;
      return result;
    } finally {
      signal?.removeEventListener('abort', leave);
      notifier.end();
      this.#isDetached = signal?.aborted === true;
    }
  }
}

export async function forgetSubmit(
  { database }: Pick<Engine, 'database'>,
  { paths, notify }: Pick<OpenCampaign, 'paths' | 'notify'>,
  { run, waitMs }: { run: string; waitMs: number },
): Promise<void> {
  const guard = await holdGuard(paths.lock, waitMs, notify, { forEngine: true });
  try {
    const isStill = readEngineNote(paths.lock)?.run === run;
    if (isStill && (await readRun(database, run)) === undefined) await removeEngineNote(paths.lock);
  } finally {
    await guard.release();
  }
}

function attachedText({ submitted, origin, state }: RunRecord, shown: string): string {
  const from = `${origin.user === '' ? '' : `${origin.user} on `}${origin.host}`;
  const how =
    state === 'ended'
      ? 'the run has ended since'
      : 'the run continues as submitted, without other options or later changes';
  return `attached to the run on ${shown} that ${from} submitted at ${submitted.toISOString()}: ${how}`;
}

function detachedText(shown: string): string {
  return `detached: the run continues at ${shown}. The same command attaches to the run again; \`cancel\` with the same --engine stops the run`;
}

/** Converts notices to events during a run, because printed lines would break the progress display. */
export function makeRunNotifier(notify: Notify, now: () => number) {
  let emit: ((event: RunEvent) => void) | undefined;
  return {
    notify(news: Notice): void {
      if (emit === undefined || news.is !== 'notice') notify(news);
      else emit({ at: new Date(now()).toISOString(), event: 'noticed', message: messageWith(news) });
    },
    from: (on: (event: RunEvent) => void) => (event: RunEvent) => {
      if (event.event === 'run-ended') emit = undefined;
      on(event);
      if (event.event === 'run-started') emit = on;
    },
    end(): void {
      emit = undefined;
    },
  };
}

function messageWith({ text, hint }: Notice & { is: 'notice' }): string {
  if (hint === undefined) return text;
  const lines = adviceLines(hint, ({ call, words }) =>
    ['mediabatch', call, ...words.map((word) => shellWord(word))].join(' '),
  );
  return [text, ...lines].join('; ');
}

function isForThisMachine({ order }: PlanRow): boolean {
  return order !== undefined && (order.action === 'move' || order.file !== undefined);
}

function submissionOf(
  plan: Plan,
  { loaded, outline, facts, prices }: Pick<LockedPlan, 'loaded' | 'outline' | 'facts' | 'prices'>,
  about: { account: string; manifest: string; store: string | null; settings: RunSettings; seal: Seal },
): Submission {
  const { account, manifest, store, settings, seal } = about;
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
    createRoutes: facts.createRoutes as unknown as Json,
    prices,
  };
  return {
    id: randomUUID(),
    ...{ account, store, header, seal },
    campaign: plan.campaign,
    // The setting `publish` is not submitted, because the order of each post contains the consent to publish it.
    settings: { ...ofRun, concurrency: plan.concurrency },
    totals: plan.totals,
    origin: { host: hostname(), user: userName() ?? '', manifest, version: ownVersion() },
    orders,
    // The lines can be iterated more than once, because the transaction may have to be repeated.
    lines: {
      *[Symbol.iterator]() {
        // The header of the lock is not submitted, because the engine stores the service with the account.
        const lines = writeLines(loaded.lock);
        lines.next();
        yield* lines;
      },
    },
  };
}

function refuseUnsupported({ sandbox }: Pick<OpenCampaign, 'sandbox'>, { review }: Pick<ApplyTerms, 'review'>): void {
  if (review === true) {
    const message = '--review and --engine cannot be combined: with an engine, gates are decided between two runs';
    throw wrongOptions(message, 'remove --review or the engine (--engine, MEDIABATCH_ENGINE)', '--review', '--engine');
  }
  if (!sandbox) return;
  const message = '--sandbox and --engine cannot be combined: workers cannot reach the sandbox of this process';
  const hint = way('remove --sandbox, and start a sandbox that workers can reach', call('sandbox'));
  throw wrongOptions(message, hint, '--sandbox', '--engine');
}

function refuseOtherEngine(note: { engine: string; account: string }, { shown, account }: Engine): void {
  if (note.engine === shown && note.account === account) return;
  const other = note.engine === shown ? 'with another key, or for another address of the service' : `on ${note.engine}`;
  throw new CampaignError({
    code: 'MB3704',
    message: `this campaign has an open run ${other}`,
    hint: 'attach to the open run first; nothing was sent',
    lock: note.engine,
  });
}

function refuseNamesake(header: RunHeader, { campaign, origin }: RunRecord, graph: Graph, shown: string): void {
  if (isOfGraph(header, graph)) return;
  throw new CampaignError({
    code: 'MB3704',
    message: `another campaign named ${campaign} has an open run on ${shown}: ${origin.host}:${origin.manifest}, with none of the steps of this manifest`,
    hint: 'idempotency keys contain the campaign name: rename one of the campaigns, or wait until the open run has ended. Nothing was sent',
    lock: shown,
  });
}
