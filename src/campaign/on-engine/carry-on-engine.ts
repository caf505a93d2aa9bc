import { setMaxListeners } from 'node:events';
import type { Engine } from '../../cluster/open-engine.ts';
import type { RunHeader, RunRecord } from '../../cluster/runs/run-record.ts';
import { systemClock } from '../../contract/clock.ts';
import type { RunEvent } from '../../contract/event.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Notice, Tell } from '../../contract/notice.ts';
import type { SpendingLeft } from '../../contract/spending.ts';
import { readEngineNote, removeEngineNote } from '../../disk/lock/engine-note.ts';
import type { Graph } from '../../graph/graph.ts';
import type { Scope } from '../../ground/scope.ts';
import type { Plan } from '../../plan/plan.ts';
import { adviceLines, shellWord } from '../../report/advice-text.ts';
import { runningHere } from '../carry-here.ts';
import { type Access, requireAccess, requireService } from '../environment.ts';
import { holdGuard } from '../hold-guard.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { type LoadedLock, requireLock } from '../read-lock.ts';
import type { ApplyTerms, Carrier, EngineChoice, Held, Running, RunResult } from '../run.ts';
import {
  findStore,
  findUnseenRun,
  forgetSubmit,
  giveBackLost,
  headerOf,
  isForThisMachine,
  lostRun,
  makeStore,
  noteRun,
  refuseAnother,
  refuseHere,
  refuseNamesake,
  refuseOtherEngine,
  sealOf,
  storeOfRun,
  submissionOf,
  tellOfNoWorker,
} from './submit-plan.ts';
import { watchOnEngine } from './watch-engine.ts';

/**
 * Shows notices of a watched run. A screen would draw over a notice that is printed directly, so it becomes an event
 * of the run.
 */
interface TellInRun {
  tell: Tell;
  /**
   * Returns a listener that passes events to `on`. Between the first and the last event of the run, notices are
   * passed to `on`, too.
   */
  from(on: (event: RunEvent) => void): (event: RunEvent) => void;
  end(): void;
}

type Options = ApplyTerms & { engine: EngineChoice };

interface Ground {
  engine: Engine;
  access: Access;
  campaign: OpenCampaign;
  telling: TellInRun;
  options: Options;
  graph: Graph;
  scope: Scope;
  closing: AbortController;
}

/**
 * Lets the workers of an engine carry plans out: does what needs this disk, submits the rest, and watches. If the
 * engine already has a run of this campaign, watches that run instead.
 */
export async function carryOnEngine(
  opened: OpenCampaign,
  graph: Graph,
  { terms: options, scope }: { terms: Options; scope: Scope },
): Promise<Carrier> {
  const telling = makeTellInRun(opened.tell, systemClock.now);
  const campaign = { ...opened, tell: telling.tell };
  refuseHere(campaign, options);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const [{ openEngine }, { readLimit }] = await Promise.all([
    import('../../cluster/open-engine.ts'),
    import('../../cluster/head/account-spending.ts'),
  ]);
  const { tell } = campaign;
  const access = requireAccess(campaign.environment);
  const engine = await openEngine(options.engine.url, access, {
    onAway: (error) => tell({ is: 'notice', text: `the engine is away: ${error.message}; the run waits for it` }),
    onBack: () => tell({ is: 'notice', text: 'the engine answers again' }),
    signal: closing.signal,
  });
  scope.add(() => engine.close());
  const limitThere = await readLimit(engine.database, engine.account);
  return new EngineCarrier({ engine, access, campaign, telling, options, graph, scope, closing }, limitThere);
}

class EngineCarrier implements Carrier {
  readonly limitThere: SpendingLeft | undefined;
  readonly #ground: Ground;

  constructor(ground: Ground, limitThere: SpendingLeft | undefined) {
    this.#ground = ground;
    this.limitThere = limitThere;
  }

  /**
   * Attaches to the run that this clone has submitted, ended or not, or to a run of another clone that is open or
   * whose purchases are missing in this lock.
   */
  async attach(): Promise<Running | undefined> {
    const { engine, campaign, options, graph, scope } = this.#ground;
    const { paths, tell } = campaign;
    const { findOpenRun, readRun } = await import('../../cluster/runs/runs.ts');
    const note = readEngineNote(paths.lock);
    if (note !== undefined) refuseOtherEngine(note, engine);
    const noted = note && (await readRun(engine.database, note.run));
    if (noted === undefined && note?.submitted === true) throw lostRun(note.run, engine);
    if (noted === undefined && note !== undefined) await forgetSubmit(this.#ground, note.run);
    const run =
      noted ??
      (await findOpenRun(engine.database, engine.account, graph.name)) ??
      (await findUnseenRun(engine, campaign, graph));
    if (run === undefined) {
      if (options.engine.store !== undefined) await findStore(options.engine.store);
      return undefined;
    }
    const header = await headerOf(this.#ground, run);
    if (noted === undefined) refuseNamesake(header, graph, { run, engine });
    const guard = await holdGuard(paths.lock, options.lockTimeoutMs ?? 0, tell, { forEngine: true });
    scope.add(() => guard.release());
    const loaded = await requireLock(campaign, campaign.service);
    await noteRun(this.#ground, run.id, { submitted: true, since: run.submitted });
    tell({ is: 'notice', text: attachedText(run, engine) });
    if (run.state === 'open') await giveBackLost(this.#ground, run, loaded.lock);
    return this.#watchAnothers(header, { run: run.id, loaded, isOpen: run.state === 'open' });
  }

  async start(plan: Plan, held: Held): Promise<Running | { result: RunResult }> {
    const { access, campaign, options } = this.#ground;
    const { tell } = campaign;
    const isTheirs = plan.rows.some((row) => row.order !== undefined && !isForThisMachine(row));
    if (isTheirs) await requireService(access, { clock: systemClock, tell });
    if (!isTheirs) {
      const hasOrders = plan.rows.some(({ order }) => order !== undefined);
      return runningHere(plan, campaign, { options, held, access: hasOrders ? access : undefined });
    }
    const loaded = await this.#doHere(plan, held);
    return 'result' in loaded ? loaded : this.#submit(plan, { ...held, loaded });
  }

  async #doHere(plan: Plan, held: Held): Promise<LoadedLock | { result: RunResult }> {
    const { access, campaign, options } = this.#ground;
    const rows = plan.rows.filter(isForThisMachine);
    if (rows.length === 0) return held.loaded;
    const running = runningHere({ ...plan, rows }, campaign, { options, held, access });
    const result = await running.watch({ on: () => {} });
    return result.exit === exitCodes.done ? requireLock(campaign, campaign.service) : { result };
  }

  async #submit(plan: Plan, { loaded, outline, facts, prices }: Held): Promise<Running> {
    const { engine, campaign, options } = this.#ground;
    const { submitRun, readRun } = await import('../../cluster/runs/runs.ts');
    const submission = submissionOf(plan, {
      account: engine.account,
      manifest: campaign.paths.manifest,
      store: options.engine.store === undefined ? null : (await makeStore(options.engine.store)).id,
      lock: loaded.lock,
      outline,
      createRoutes: facts.createRoutes,
      prices,
      settings: options,
      seal: await sealOf(campaign),
    });
    await noteRun(this.#ground, submission.id, { submitted: false, since: new Date(systemClock.now()) });
    const submitting = submitRun(engine.database, engine.boss, submission);
    const { id, attached } = await submitting.catch(async (error: unknown) => {
      // The engine refused the submission, so it has no such run. After any other error it may have one.
      if (error instanceof CampaignError) await removeEngineNote(campaign.paths.lock);
      throw error;
    });
    if (attached) await refuseAnother(this.#ground, id);
    await noteRun(this.#ground, id, { submitted: true, since: new Date(systemClock.now()) });
    if (!attached) return this.#watch(plan, { run: id, loaded, isOpen: true, outline });
    const text = `another clone has just submitted this campaign to ${engine.shown}: attached to its run`;
    campaign.tell({ is: 'notice', text });
    const theirs = await readRun(engine.database, id);
    if (theirs === undefined) throw lostRun(id, engine);
    return this.#watchAnothers(await headerOf(this.#ground, theirs), { run: id, loaded, isOpen: true });
  }

  #watchAnothers({ plan, outline }: RunHeader, of: Omit<Watched, 'outline'>): Promise<Running> {
    const { tasks, addresses } = outline;
    return this.#watch(plan, { ...of, outline: { tasks, addresses: new Set(addresses) } });
  }

  async #watch(plan: Plan, of: Watched): Promise<Running> {
    const { engine, access, campaign, telling, options, scope, closing } = this.#ground;
    const { store: name } = options.engine;
    const { run, isOpen } = of;
    const from = { engine, name, tell: campaign.tell };
    const files = await storeOfRun({ id: run, campaign: plan.campaign }, from);
    const store = files === 'stay' ? undefined : files;
    if (isOpen) {
      const over = new AbortController();
      scope.add(() => over.abort());
      const telling = { tell: campaign.tell, signal: AbortSignal.any([closing.signal, over.signal]) };
      // Fails when the run is over, or when the server is unreachable, which is reported elsewhere.
      tellOfNoWorker(engine, { ...telling, run, store: name }).catch(() => {});
    }
    // Reported after the last screen update.
    let lastWords: string | undefined;
    scope.add(() => {
      if (lastWords !== undefined) campaign.tell({ is: 'notice', text: lastWords });
    });
    return {
      plan,
      isWork: true,
      engineRun: run,
      filesStay: files === 'stay',
      watch: async ({ on, signal, stray }) => {
        const leave = () => closing.abort();
        signal?.addEventListener('abort', leave, { once: true });
        if (signal?.aborted) leave();
        stray?.first.then(leave);
        try {
          const result = await watchOnEngine(engine, campaign, {
            ...of,
            name: plan.campaign,
            access: isOpen ? access : undefined,
            store,
            signal: closing.signal,
            on: telling.from(on),
          });
          if (stray?.seen !== undefined) throw stray.seen.error;
          return result;
        } finally {
          signal?.removeEventListener('abort', leave);
          telling.end();
          if (signal?.aborted) lastWords = detachedText(engine);
        }
      },
    };
  }
}

interface Watched {
  run: string;
  outline: Held['outline'];
  loaded: LoadedLock;
  isOpen: boolean;
}

function attachedText({ submitted, origin, state }: RunRecord, { shown }: Engine): string {
  const from = `${origin.user === '' ? '' : `${origin.user} on `}${origin.host}`;
  const how =
    state === 'ended'
      ? 'it has ended meanwhile'
      : 'it goes on as it was submitted, without other options and later changes';
  return `attached to the run on ${shown} that ${from} submitted at ${submitted.toISOString()}: ${how}`;
}

function detachedText({ shown }: Engine): string {
  return `detached: the run continues at ${shown}. The same command attaches to it again; \`cancel\` with the same --engine stops it`;
}

function messageWith({ text, hint }: Notice & { is: 'notice' }): string {
  const lines =
    hint === undefined
      ? []
      : adviceLines(hint, ({ call, words }) => ['mediabatch', call, ...words.map((word) => shellWord(word))].join(' '));
  return [text, ...lines].join('; ');
}

export function makeTellInRun(tell: Tell, now: () => number): TellInRun {
  let emit: ((event: RunEvent) => void) | undefined;
  return {
    tell(news) {
      if (emit === undefined || news.is !== 'notice') tell(news);
      else emit({ at: new Date(now()).toISOString(), event: 'noticed', message: messageWith(news) });
    },
    from: (on) => (event) => {
      if (event.event === 'run-ended') emit = undefined;
      on(event);
      if (event.event === 'run-started') emit = on;
    },
    end() {
      emit = undefined;
    },
  };
}
