import { join, resolve } from 'node:path';
import { chosenBy, refuseStale } from '../campaign/check-saved-plan.ts';
import { planByDocument, requireCheckedGraph } from '../campaign/checked-graph.ts';
import { requireAccess } from '../campaign/environment.ts';
import { holdGuard } from '../campaign/hold-guard.ts';
import { requireLock } from '../campaign/load.ts';
import { agreeToMove } from '../campaign/lock-service.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { planCampaign } from '../campaign/plan.ts';
import { rehearse } from '../campaign/rehearse.ts';
import { requireService } from '../campaign/require-service.ts';
import { runPlan } from '../campaign/run.ts';
import type { SavedPlan } from '../campaign/saved-plan.ts';
import { findNothingToDo } from '../campaign/up-to-date.ts';
import { systemClock } from '../contract/clock.ts';
import { exitCodes } from '../contract/exit.ts';
import type { Graph } from '../graph/graph.ts';
import { outlineOf } from '../graph/outline.ts';
import { isWork } from '../plan/actions.ts';
import { planJson } from '../report/plan/plan-json.ts';
import { planText } from '../report/plan/plan-text.ts';
import { agreeTo } from './agree.ts';
import type { ApplyOptions } from './apply-options.ts';
import { selectionOf } from './commands/plan.ts';
import { sandboxKey } from './commands/sandbox.ts';
import { openEvents } from './recorder.ts';
import { tellCredential } from './tell-credential.ts';
import { findUnselected, tellUnselected } from './tell-unselected.ts';
import type { Terminal } from './terminal.ts';
import { tellWaiting } from './waiting-posts.ts';

export interface ApplyContext {
  campaign: OpenCampaign;
  /** Digest of all that a plan depends on beside files; absent when more is wanted than to be told that nothing is to do. */
  given: string | undefined;
  terminal: Terminal;
  /** What was planned before, and agreed to by whoever applies it. */
  saved?: SavedPlan;
}

/** Plans, asks, runs, writes the lock. */
export async function applyCampaign(file: string, options: ApplyOptions, context: ApplyContext): Promise<number> {
  const { campaign, terminal } = context;
  const { sandbox, paths, environment, service, replays, seen } = campaign;
  const prepared = await prepare(file, options, context);
  const { made, unselected, outline, loaded, facts, events, guard, finding } = prepared;
  try {
    const plan = await agreeTo(made, options, {
      ...context,
      show(planned) {
        if (!options.json && options.events !== '-') {
          terminal.err(planText(planned, { style: terminal.style, width: terminal.width, all: options.all === true }));
        }
        tellUnselected(unselected, terminal, { ends: true });
        tellCredential(planned, replays, terminal);
      },
    });
    if (plan === 'no' || plan === 'interrupted') {
      terminal.err('nothing was spent\n');
      return plan === 'no' ? exitCodes.done : exitCodes.interrupted;
    }

    const needsService = plan.rows.some(isWork);
    const access = needsService && !sandbox ? requireAccess(environment) : undefined;
    const asks = made.rows.some((row) => isWork(row) && row.action !== 'move');
    if (access !== undefined && asks) await requireService(access, { clock: systemClock, terminal });
    const embedded = needsService && sandbox ? await rehearse(made, { options, paths, lock: loaded.lock }) : undefined;
    try {
      const exit = await runPlan(plan, {
        outline,
        loaded,
        paths,
        guard,
        terminal,
        access: embedded === undefined ? access : { baseUrl: embedded.url, token: sandboxKey },
        isEmbedded: sandbox,
        accountOf: campaign.accountOf,
        service,
        clock: systemClock,
        json: options.json === true ? planJson(plan) : undefined,
        events: events?.(),
        pollInterval: options.pollInterval,
        requestTimeoutMs: (options.requestTimeout ?? 30) * 1000,
        createTimeoutMs: (options.requestTimeout ?? 120) * 1000,
        patienceMs: options.patience ?? Number.POSITIVE_INFINITY,
        creditWaitMs: options.waitForBalance ?? 0,
        onUnknown: options.onUnknown,
        onError: options.onError,
        createRoutes: facts.createRoutes,
        seen,
      });
      await seen.keep(finding);
      tellWaiting(plan, { ...context, file, options, planned: made });
      return exit;
    } finally {
      await embedded?.close();
    }
  } finally {
    await guard.release();
  }
}

/**
 * The plan, made while the campaign is held. The graph, as large as everything that the run will keep in mind, is let go of.
 */
async function prepare(file: string, options: ApplyOptions, context: ApplyContext) {
  const { campaign, given, terminal, saved } = context;
  const { paths, environment, service, replays, seen } = campaign;
  const checked = { options, paths, terminal, service, environment, isRun: true };
  const first = await requireCheckedGraph(file, checked);
  const ours = [paths.manifest, paths.lock, ...first.inputs.map((path) => join(paths.folder, path))];
  const events = openEvents(options.events, { inputs: ours.map((path) => resolve(path)), terminal });
  const guard = await holdGuard(paths.lock, options.lockTimeout * 1000, terminal);
  try {
    const { serviceMoved, yes } = options;
    const loaded = await requireLock(paths, service, terminal, { serviceMoved });
    if (serviceMoved === true) await agreeToMove(loaded, { environment, path: paths.lock, yes, terminal });
    const planOf = (graph: Graph, { again }: { again: boolean }) =>
      planCampaign(graph, loaded.lock, paths, {
        // What it has to tell has been told.
        terminal: again ? { ...terminal, err: () => {} } : terminal,
        isRun: true,
        redo: options.redo ?? [],
        ...selectionOf(options),
        ...(saved !== undefined && { chosen: chosenBy(saved, loaded.lock) }),
        replays,
        accountOf: campaign.accountOf,
        onUnknown: options.onUnknown,
        ...(options.maxCredits !== undefined && { maxCredits: options.maxCredits }),
        ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
        seen,
      });
    const { graph, facts, asked, planned } = await planByDocument(first, planOf);
    const { plan: made, states } = planned;
    if (saved !== undefined) refuseStale(saved, { plan: made, graph, service });
    const finding = findNothingToDo(made, { given, asked, loaded, states, seen });
    const unselected = findUnselected(made, { options, graph, command: 'apply' });
    return { made, unselected, outline: outlineOf(graph), loaded, facts, events, guard, finding };
  } catch (error) {
    await guard.release();
    throw error;
  }
}
