import { setMaxListeners } from 'node:events';
import type { Engine } from '../../cluster/open-engine.ts';
import type { RunHeader, RunRecord } from '../../cluster/run-record.ts';
import { systemClock } from '../../contract/clock.ts';
import type { RunEvent } from '../../contract/event.ts';
import { exitCodes } from '../../contract/exit.ts';
import { readEngineNote } from '../../disk/lock/engine-note.ts';
import type { Guard } from '../../disk/lock/guard.ts';
import type { Graph } from '../../graph/graph.ts';
import type { GraphOutline } from '../../graph/outline.ts';
import type { Lock } from '../../lock/record.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Applied, ApplyGraphOptions, EngineChoice } from '../apply-options.ts';
import { holdAndPlan } from '../hold-and-plan.ts';
import { holdGuard } from '../hold-guard.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { type LoadedLock, requireLock } from '../read-lock.ts';
import { recordRun } from '../record-run.ts';
import { requireService } from '../require-service.ts';
import { type RunResult, runPlan } from '../run.ts';
import { accountFacts, addressOf, type Helpers, startHelpers } from './engine-helpers.ts';
import { forgetSubmit, noteRun, refuseAnother } from './engine-others.ts';
import { lostRun, refuseHere, refuseNamesake, refuseOtherEngine } from './engine-refusals.ts';
import { attachedText, detachedText } from './engine-words.ts';
import { differencesFrom, type GivenOfRun, givenOf, notOfRunText } from './given-of-run.ts';
import { checkStore, makeStore, storeOfRun } from './store-of-run.ts';
import { isForThisMachine, submissionOf } from './submit-plan.ts';
import { makeTellInRun, type TellInRun } from './tell-in-run.ts';
import { findUnseenRun } from './unseen-run.ts';
import { watchOnEngine } from './watch-engine.ts';

type Options = ApplyGraphOptions & { engine: EngineChoice };

/**
 * Plans and asks as ever, does what needs this disk, submits the rest, and watches. Where the engine has a run of this
 * campaign already, nothing is planned: that one is watched.
 */
export async function applyOnEngine(opened: OpenCampaign, options: Options): Promise<Applied> {
  const telling = makeTellInRun(opened.tell, systemClock.now);
  const campaign = { ...opened, tell: telling.tell };
  refuseHere(campaign, options);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const { openEngine } = await import('../../cluster/open-engine.ts');
  const { tell } = campaign;
  const address = await addressOf(options.engine, campaign);
  try {
    const engine = await openEngine(address.url, accountFacts(campaign), {
      onAway: (error) => tell({ is: 'notice', text: `the engine is away: ${error.message}; the run waits for it` }),
      onBack: () => tell({ is: 'notice', text: 'the engine is back' }),
      signal: closing.signal,
      shown: address.shown,
    });
    const work: Work = { engine, url: address.url, campaign, telling, options, closing };
    try {
      return (await attach(work)) ?? (await submit(work));
    } finally {
      await work.helpers?.close();
      await engine.close();
    }
  } finally {
    await address.close();
  }
}

interface Work {
  engine: Engine;
  url: string;
  /** What runs beside this process by now. */
  helpers?: Helpers;
  campaign: OpenCampaign;
  telling: TellInRun;
  options: Options;
  /** The last run of this name that had ended when the lock was found to know all that it bought. */
  last?: string | null;
  /** Aborted: nobody waits for the engine any more. */
  closing: AbortController;
}

/** The run that this clone has submitted, ended or not, or one of another clone that is open, or whose end nobody saw. */
async function attach(work: Work): Promise<Applied | undefined> {
  const { engine, campaign, options } = work;
  const { paths, tell } = campaign;
  const { findOpenRun, readHeader, readRun } = await import('../../cluster/runs.ts');
  const checked = await options.check();
  work.options = { ...options, check: async () => checked };
  const note = readEngineNote(paths.lock);
  if (note !== undefined) refuseOtherEngine(note, engine);
  const noted = note && (await readRun(engine.database, note.run));
  if (noted === undefined && note?.submitted === true) throw lostRun(note.run, engine);
  if (noted === undefined && note !== undefined) await forgetSubmit(work, note.run);
  const run =
    noted ??
    (await findOpenRun(engine.database, engine.account, checked.graph.name)) ??
    (await unseenRun(work, checked.graph));
  if (run === undefined) return undefined;
  if (noted === undefined) refuseNamesake(await readHeader(engine.database, run.id), checked.graph, { run, engine });
  const guard = await holdGuard(paths.lock, options.lockTimeoutMs ?? 0, tell, { forEngine: true });
  try {
    const loaded = await requireLock(campaign, campaign.service);
    await noteRun(work, run.id, { submitted: true, since: run.submitted });
    if (run.state === 'open') await help(work);
    const { plan, outline, given } = await readHeader(engine.database, run.id);
    tell({ is: 'notice', text: attachedText(run, engine) });
    return await watchAnothers(work, given, { run: run.id, plan, made: plan, outline: outlineFrom(outline), loaded });
  } finally {
    await guard.release();
  }
}

/** A rehearsal begins anew as often as somebody likes. */
async function unseenRun(work: Work, graph: Graph): Promise<RunRecord | undefined> {
  const { engine, campaign } = work;
  if (campaign.sandbox) return undefined;
  const { unseen, last } = await findUnseenRun(engine, campaign, graph);
  work.last = last;
  return unseen;
}

function outlineFrom({ tasks, addresses }: RunHeader['outline']): GraphOutline {
  return { tasks, addresses: new Set(addresses) };
}

async function submit(work: Work): Promise<Applied> {
  const { engine, campaign, options } = work;
  const { environment, paths, tell, seen } = campaign;
  if (options.engine.store !== undefined) await checkStore(options.engine.store);
  const held = await holdAndPlan(campaign, { ...options, forEngine: true });
  const { made, outline, prices, facts, guard, finding } = held;
  try {
    const plan = await options.agree(made);
    if (plan === 'no' || plan === 'interrupted') return { is: plan };
    const isTheirs = plan.rows.some((row) => row.order !== undefined && !isForThisMachine(row));
    const { access } = await help(work, { plan, lock: held.loaded.lock });
    if (isTheirs && !campaign.sandbox)
      await requireService(access, { clock: systemClock, tell, proxied: environment.proxied === true });
    const loaded = await doHere(work, plan, { ...held, guard });
    if ('result' in loaded) return { is: 'ran', made, carriedOut: plan, result: loaded.result };
    if (!isTheirs) {
      const result = await runHere(work, plan, { ...held, loaded, guard });
      await seen.keep(finding);
      return { is: 'ran', made, carriedOut: plan, result };
    }
    const { submitRun, readHeader } = await import('../../cluster/runs.ts');
    const submission = submissionOf(plan, {
      account: engine.account,
      sandbox: campaign.sandbox,
      manifest: paths.manifest,
      store: options.engine.store === undefined ? null : (await makeStore(options.engine.store)).id,
      lock: loaded.lock,
      outline,
      createRoutes: facts.createRoutes,
      prices,
      settings: options,
      given: await givenNow(work),
    });
    await noteRun(work, submission.id, { submitted: false, since: new Date(systemClock.now()) });
    const { last } = work;
    const { id, attached } = await submitRun(engine.database, engine.boss, { ...submission, last });
    if (attached) await refuseAnother(work, id);
    await noteRun(work, id, { submitted: true, since: new Date(systemClock.now()) });
    if (!attached) return await watch(work, { run: id, plan, made, outline, loaded });
    tell({
      is: 'notice',
      text: `another clone has just submitted this campaign to ${engine.shown}: attached to its run`,
    });
    const other = await readHeader(engine.database, id);
    const { outline: otherOutline } = other;
    return await watchAnothers(work, other.given, {
      run: id,
      plan: other.plan,
      made,
      outline: outlineFrom(otherOutline),
      loaded,
    });
  } finally {
    await guard.release();
  }
}

/** Starts what is to run beside this process. */
async function help(work: Work, begin?: { plan: Plan; lock: Lock }): Promise<Helpers> {
  const { campaign, options, url } = work;
  const { engine, rehearsal } = options;
  work.helpers = await startHelpers(campaign, { engine, url, rehearsal, ...(begin && { begin }) });
  return work.helpers;
}

interface Held extends Pick<Awaited<ReturnType<typeof holdAndPlan>>, 'outline' | 'loaded' | 'facts' | 'finding'> {
  guard: Guard;
}

/** Uploads and moves, if there are any; then the lock as they leave it. `result`: one of them failed, and nothing is submitted. */
async function doHere(work: Work, plan: Plan, held: Held): Promise<LoadedLock | { result: RunResult }> {
  const { campaign } = work;
  const rows = plan.rows.filter(isForThisMachine);
  if (rows.length === 0 || rows.length === plan.rows.filter(({ order }) => order !== undefined).length)
    return held.loaded;
  const result = await runPlan({ ...plan, rows }, campaign, {
    ...work.options,
    ...held,
    access: work.helpers?.access,
    clock: systemClock,
    createRoutes: held.facts.createRoutes,
    on: () => {},
  });
  if (result.exit !== exitCodes.done) return { result };
  return requireLock(campaign, campaign.service);
}

/** Nothing of the plan is for workers. */
async function runHere({ campaign, options, helpers }: Work, plan: Plan, held: Held): Promise<RunResult> {
  const { on, end, ...ending } = await options.observe(plan);
  try {
    return await runPlan(plan, campaign, {
      ...options,
      ...ending,
      ...held,
      access: plan.rows.some(({ order }) => order !== undefined) ? helpers?.access : undefined,
      clock: systemClock,
      createRoutes: held.facts.createRoutes,
      on,
    });
  } finally {
    await end?.();
  }
}

/** The steps of the campaign as it is, and what was typed. */
async function givenNow({ options }: Work): Promise<GivenOfRun> {
  return givenOf((await options.check()).graph, options);
}

/** Nothing that is typed, or was edited, is dropped without a word. */
async function watchAnothers(work: Work, then: GivenOfRun, watched: Watched): Promise<Applied> {
  const { tell } = work.campaign;
  const text = notOfRunText(differencesFrom(then, await givenNow(work)));
  if (text !== undefined) tell({ is: 'notice', text });
  const applied = await watch(work, watched);
  if (text !== undefined && applied.is === 'ran' && applied.result.end !== undefined)
    tell({ is: 'notice', text: 'that was the run as it was submitted: apply again for what was not part of it' });
  return applied;
}

interface Watched {
  run: string;
  plan: Plan;
  made: Plan;
  outline: GraphOutline;
  loaded: LoadedLock;
}

/** Until it has ended, or somebody leaves: then the run goes on. */
async function watch(work: Work, watched: Watched): Promise<Applied> {
  const { engine, campaign, telling, options, closing, helpers } = work;
  const { run, plan, made, outline, loaded } = watched;
  const { store } = options.engine;
  const files = await storeOfRun({ id: run, campaign: plan.campaign }, { engine, name: store, tell: campaign.tell });
  if (helpers !== undefined && options.engine.workers === undefined) await tellOfNoWorker(engine, campaign, store);
  const { on, end, times, signal, stray } = await options.observe(plan);
  const leave = () => closing.abort();
  signal?.addEventListener('abort', leave, { once: true });
  if (signal?.aborted) leave();
  stray?.first.then(leave);
  try {
    const { signal: until } = closing;
    const result = await recordRun(plan, campaign, {
      on: telling.from(on),
      clock: systemClock,
      times,
      run: (hear: (event: RunEvent) => void) =>
        watchOnEngine(engine, campaign, {
          ...{ run, outline, loaded, store: files, access: helpers?.access, signal: until, on: hear },
        }),
    });
    if (stray?.seen !== undefined) throw stray.seen.error;
    return { is: 'ran', made, carriedOut: plan, result };
  } finally {
    signal?.removeEventListener('abort', leave);
    telling.end();
    await end?.();
    if (signal?.aborted) campaign.tell({ is: 'notice', text: detachedText(engine, options.engine) });
  }
}

/** Without one a screen would stay empty, and nobody would know why. */
async function tellOfNoWorker(
  { database, account, shown }: Engine,
  { tell }: OpenCampaign,
  store: string | undefined,
): Promise<void> {
  const { hasWorker } = await import('../../cluster/engine-state.ts');
  if (await hasWorker(database, account)) return;
  const place = store === undefined ? '' : ' with the same --store';
  const text = `no worker of this account runs on ${shown}: the run waits until \`mediabatch worker\`${place} is started`;
  tell({ is: 'notice', text });
}
