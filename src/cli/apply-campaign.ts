import { outlineOf } from '../graph/outline.ts';
import { isSpending, isWork } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { planJson } from '../report/plan-json.ts';
import { planText } from '../report/plan-text.ts';
import { systemClock } from '../run/clock.ts';
import type { ApplyOptions } from './apply-options.ts';
import { askToSpend } from './ask.ts';
import { requireLock } from './campaign.ts';
import { chosenBy, namesAllPrices, refuseStale } from './check-saved-plan.ts';
import { requireCheckedGraph } from './checked-graph.ts';
import { selectionOf } from './commands/plan.ts';
import { sandboxKey } from './commands/sandbox.ts';
import { requireAccess } from './environment.ts';
import { CommandError, exitCodes } from './exit.ts';
import { holdGuard } from './hold-guard.ts';
import { findNothingToDo } from './nothing-to-do.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { planCampaign } from './plan-campaign.ts';
import { openEvents } from './recorder.ts';
import { rehearse } from './rehearse.ts';
import { requireService } from './require-service.ts';
import { runPlan } from './run-plan.ts';
import type { SavedPlan } from './saved-plan.ts';
import { tellCredential } from './tell-credential.ts';
import { findUnselected, tellUnselected } from './tell-unselected.ts';
import type { Terminal } from './terminal.ts';

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
    if (!options.json && options.events !== '-') {
      terminal.err(planText(made, { style: terminal.style, width: terminal.width, all: options.all === true }));
    }
    tellUnselected(unselected, terminal, { ends: true });
    tellCredential(made, replays, terminal);
    const needsService = made.rows.some(isWork);
    const agreed = needsService ? await agreeToSpend(made, options, context) : 'yes';
    if (agreed !== 'yes') {
      terminal.err('nothing was spent\n');
      return agreed === 'no' ? exitCodes.done : exitCodes.interrupted;
    }

    const access = needsService && !sandbox ? requireAccess(environment) : undefined;
    const asks = made.rows.some((row) => isWork(row) && row.action !== 'move');
    if (access !== undefined && asks) await requireService(access, { clock: systemClock, terminal });
    const embedded = needsService && sandbox ? await rehearse(made, { options, paths, lock: loaded.lock }) : undefined;
    try {
      const exit = await runPlan(made, {
        outline,
        loaded,
        paths,
        guard,
        terminal,
        access: embedded === undefined ? access : { baseUrl: embedded.url, token: sandboxKey },
        service,
        clock: systemClock,
        json: options.json === true ? planJson(made) : undefined,
        events,
        pollInterval: options.pollInterval,
        requestTimeoutMs: (options.requestTimeout ?? 30) * 1000,
        createTimeoutMs: (options.requestTimeout ?? 120) * 1000,
        patienceMs: options.patience ?? Number.POSITIVE_INFINITY,
        creditWaitMs: options.waitForBalance ?? 0,
        onUnknown: options.onUnknown,
        onError: options.onError,
        createPaths: facts.createPaths,
        seen,
      });
      await seen.keep(finding);
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
  const { graph, facts, asked } = await requireCheckedGraph(file, checked);
  const events = openEvents(options.events, terminal);
  const guard = await holdGuard(paths.lock, options.lockTimeout * 1000, terminal);
  try {
    const loaded = await requireLock(paths, service, terminal);
    const { plan: made, states } = await planCampaign(graph, loaded.lock, paths, {
      terminal,
      redo: options.redo ?? [],
      ...selectionOf(options),
      ...(saved !== undefined && { chosen: chosenBy(saved, loaded.lock) }),
      replays,
      onUnknown: options.onUnknown,
      ...(options.maxCredits !== undefined && { maxCredits: options.maxCredits }),
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
      seen,
    });
    if (saved !== undefined) refuseStale(saved, { plan: made, graph, lock: loaded.lock, service });
    const finding = findNothingToDo(made, { given, asked, loaded, states, seen });
    const unselected = findUnselected(made, { options, graph, command: 'apply' });
    return { made, unselected, outline: outlineOf(graph), loaded, facts, events, guard, finding };
  } catch (error) {
    await guard.release();
    throw error;
  }
}

/**
 * Nothing is spent that nobody agreed to: a person here, `--yes`, a saved plan that says what everything costs, or a budget
 * that covers the whole plan.
 */
async function agreeToSpend(
  made: Plan,
  options: ApplyOptions,
  { terminal, saved }: ApplyContext,
): Promise<'yes' | 'no' | 'interrupted'> {
  const { toSpend, unknownPrices, budgetLeft, maxCredits } = made.totals;
  if (options.yes || !made.rows.some(({ action }) => isSpending(action))) return 'yes';
  if (saved !== undefined && namesAllPrices(saved, made)) return 'yes';
  if (terminal.interactive) return askToSpend(made.totals, terminal);
  const cap = Math.min(budgetLeft ?? Number.POSITIVE_INFINITY, maxCredits ?? Number.POSITIVE_INFINITY);
  if (unknownPrices === 0 && toSpend <= cap && cap !== Number.POSITIVE_INFINITY) return 'yes';
  const why =
    unknownPrices > 0
      ? `the price of ${unknownPrices} steps is not known yet`
      : 'there is no budget that covers the plan';
  throw new CommandError(
    exitCodes.wrongUsage,
    `there is no terminal to ask on, and ${why}`,
    unknownPrices > 0
      ? 'agree with --yes; the budget and --max-credits still hold'
      : 'agree with --yes (the budget and --max-credits still hold), or set a budget that covers the plan',
  );
}
