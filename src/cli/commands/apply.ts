import { join } from 'node:path';
import { outlineOf } from '../../graph/outline.ts';
import { isSpending, isWork } from '../../plan/actions.ts';
import type { Plan } from '../../plan/plan.ts';
import { planJson } from '../../report/plan-json.ts';
import { planText } from '../../report/plan-text.ts';
import { systemClock } from '../../run/clock.ts';
import { askToSpend } from '../ask.ts';
import { requireLock } from '../campaign.ts';
import { type CampaignPaths, campaignPaths, knownService } from '../campaign-paths.ts';
import { requireCheckedGraph } from '../checked-graph.ts';
import { type Environment, readEnvironment, requireAccess } from '../environment.ts';
import { CommandError, exitCodes } from '../exit.ts';
import { holdGuard } from '../hold-guard.ts';
import { type PlanOptions, planCampaign } from '../plan-campaign.ts';
import { openEvents } from '../recorder.ts';
import { runPlan } from '../run-plan.ts';
import { tellCredential } from '../tell-credential.ts';
import type { Terminal } from '../terminal.ts';
import { type PlanCommandOptions, plan, replaysOf, selectionOf } from './plan.ts';
import { type RunningSandbox, sandboxKey, startSandbox } from './sandbox.ts';

export interface ApplyOptions extends PlanCommandOptions {
  dryRun?: boolean;
  yes?: boolean;
  events?: string;
  lockTimeout: number;
  requestTimeout?: number;
  patience?: number;
  /** In ms. */
  waitForBalance?: number;
  onUnknown: 'ask' | 'hold';
  pollInterval: 'auto' | number;
}

/** Plan, ask, run, write the lock. */
export async function apply(file: string, options: ApplyOptions, terminal: Terminal): Promise<number> {
  if (options.dryRun) return plan(file, options, terminal);
  if (options.events === '-' && options.json) {
    throw new CommandError(exitCodes.wrongUsage, '--json and --events - both want stdout', 'give --events a file');
  }
  const sandbox = options.sandbox === true;
  const paths = campaignPaths(file, options);
  const environment = sandbox ? {} : readEnvironment(process.env, process.cwd());
  const service = knownService(sandbox, environment);
  const replays = replaysOf(sandbox, environment);
  const prepared = await prepare(file, options, { paths, terminal, environment, service, replays });
  const { made, outline, loaded, facts, events, guard } = prepared;
  try {
    if (!options.json && options.events !== '-') {
      terminal.err(planText(made, { style: terminal.style, width: terminal.width, all: options.all === true }));
    }
    tellCredential(made, replays, terminal);
    const needsService = made.rows.some(isWork);
    const agreed = needsService ? await agreeToSpend(made, options, terminal) : 'yes';
    if (agreed !== 'yes') {
      terminal.err('nothing was spent\n');
      return agreed === 'no' ? exitCodes.done : exitCodes.interrupted;
    }

    const access = needsService && !sandbox ? requireAccess(environment) : undefined;
    const embedded = needsService && sandbox ? await embedSandbox(paths.state) : undefined;
    try {
      return await runPlan(made, {
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
        createPaths: facts.createPaths,
      });
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
async function prepare(
  file: string,
  options: ApplyOptions,
  context: {
    paths: CampaignPaths;
    terminal: Terminal;
    environment: Environment;
    service: string | undefined;
    replays: PlanOptions['replays'];
  },
) {
  const { paths, terminal, environment, service, replays } = context;
  const checked = { options, paths, terminal, service, environment, isRun: true };
  const { graph, facts } = await requireCheckedGraph(file, checked);
  const events = openEvents(options.events, terminal);
  const guard = await holdGuard(paths.lock, options.lockTimeout * 1000, terminal);
  try {
    const loaded = await requireLock(paths, service, terminal);
    const made = await planCampaign(graph, loaded.lock, paths, {
      terminal,
      redo: options.redo ?? [],
      ...selectionOf(options),
      replays,
      onUnknown: options.onUnknown,
      ...(options.maxCredits !== undefined && { maxCredits: options.maxCredits }),
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    });
    return { made, outline: outlineOf(graph), loaded, facts, events, guard };
  } catch (error) {
    await guard.release();
    throw error;
  }
}

/** Nothing is spent that nobody agreed to: a person here, `--yes`, or a budget that covers the whole plan. */
async function agreeToSpend(
  made: Plan,
  options: ApplyOptions,
  terminal: Terminal,
): Promise<'yes' | 'no' | 'interrupted'> {
  const { toSpend, unknownPrices, budgetLeft, maxCredits } = made.totals;
  if (options.yes || !made.rows.some(({ action }) => isSpending(action))) return 'yes';
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

async function embedSandbox(state: string): Promise<RunningSandbox> {
  try {
    // A trial is not worth waiting for; whoever wants the pace of life runs `mediabatch sandbox`.
    return await startSandbox({ dataDir: join(state, 'sandbox'), port: 0, speed: 5 });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandError(exitCodes.cannotWrite, `the embedded sandbox cannot start: ${message}`);
  }
}
