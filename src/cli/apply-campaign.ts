import { join, resolve } from 'node:path';
import { applyGraph } from '../campaign/apply.ts';
import { requireCheckedGraph } from '../campaign/checked-graph.ts';
import type { LiveRun } from '../campaign/live-run.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { optionTable } from '../campaign/option-table.ts';
import type { SavedPlan } from '../campaign/saved-plan.ts';
import { systemClock } from '../contract/clock.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError } from '../contract/failure.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { closeGroup, openGroup } from '../report/github-commands.ts';
import { planJson } from '../report/plan/plan-json.ts';
import { planText } from '../report/plan/plan-text.ts';
import { agreeTo, canAskAgain } from './agree.ts';
import type { ApplyOptions } from './apply-options.ts';
import { askAboutMove } from './ask-about-move.ts';
import { engineFor } from './engine-choice.ts';
import { listenForStrayErrors } from './last-resort.ts';
import { openNotification } from './notify.ts';
import { makeRecorder, openEvents } from './recorder.ts';
import { listenForInterruption } from './signals.ts';
import { tellCredential } from './tell-credential.ts';
import { findUnselected, tellUnselected, type Unselected } from './tell-unselected.ts';
import type { Terminal } from './terminal.ts';
import { tellOpenGates } from './waiting-gates.ts';
import { tellWaiting } from './waiting-posts.ts';

export interface ApplyContext {
  campaign: OpenCampaign;
  /** Digest of all that a plan depends on beside files; absent when more is wanted than whether it is up to date. */
  given: string | undefined;
  terminal: Terminal;
  /** Plan made before, agreed to by whoever applies it. */
  saved?: SavedPlan;
}

/**
 * Plans, asks, runs, writes the lock. Where charges showed that more would be paid than somebody agreed to, and there is
 * somebody, they are asked again, with what the rest comes to.
 */
export async function applyCampaign(options: ApplyOptions, context: ApplyContext): Promise<number> {
  const { terminal } = context;
  let applied = await applyOnce(options, context);
  while (applied.isPassed && canAskAgain(options, terminal)) {
    terminal.err(
      `\n${terminal.style.bold('asked again')}: the rest costs more than was agreed to, or is priced only now\n`,
    );
    const next = await applyOnce(options, { ...context, isAnew: true });
    if (!next.hasRun) return applied.exit;
    applied = next;
  }
  return applied.exit;
}

async function applyOnce(
  options: ApplyOptions,
  context: ApplyContext & { isAnew?: true },
): Promise<{ exit: number; isPassed: boolean; hasRun: boolean }> {
  const { campaign, terminal, given, saved, isAnew } = context;
  const { paths, replays, file } = campaign;
  const { serviceMoved, yes } = options;
  const engine = engineFor(options);
  const notification = openNotification(options, terminal);
  let events: ReturnType<typeof openEvents>;
  let begun: string | undefined;
  let unselected: Unselected | undefined;
  let live: LiveRun | undefined;
  let page: string | undefined;
  let isPassed = false;
  const show = (planned: Plan) => {
    // Whoever is asked to agree sees what to.
    const isQuiet = options.quiet === true && (yes === true || !terminal.interactive);
    if (!options.json && options.events !== '-' && !isQuiet) {
      const text = planText(planned, { style: terminal.style, width: terminal.width, all: options.all === true });
      terminal.github?.(openGroup('plan'));
      terminal.err(text);
      terminal.github?.(closeGroup);
    }
    tellUnselected(unselected, terminal, { ends: true });
    tellCredential(planned, replays, terminal);
  };
  const work = applyGraph(campaign, {
    async check() {
      const checked = await requireCheckedGraph(campaign, { refresh: options.refresh, isRun: true });
      const ours = [
        paths.manifest,
        paths.lock,
        ...campaign.varFiles,
        ...checked.inputs.map((path) => join(paths.folder, path)),
      ];
      events = openEvents(options.events, { inputs: ours.map((path) => resolve(path)), terminal });
      return checked;
    },
    ...options,
    saved,
    isAnew,
    given,
    lockTimeoutMs: options.lockTimeoutMs ?? optionTable.lockTimeoutMs.standard,
    createTimeoutMs: options.requestTimeoutMs,
    rehearsal: {
      credits: options.sandboxCredits,
      speed: options.sandboxSpeed,
      failRate: options.sandboxFailRate,
    },
    engine,
    ...(serviceMoved === true && { askAboutMove: (question) => askAboutMove(question, { yes, terminal }) }),
    verify(made, graph) {
      unselected = findUnselected(made, { options, graph, command: 'apply' });
    },
    review:
      options.review === true
        ? async (run) => {
            const { reviewRun } = await import('./review-run.ts');
            const reviewed = await reviewRun(run, { campaign, options, terminal });
            live = run;
            page = reviewed.url;
            return reviewed;
          }
        : undefined,
    agree: (made) => agreeTo(made, options, { terminal, show, ...(!isAnew && saved && { saved }) }),
    async observe(plan) {
      begun = plan.campaign;
      if (plan.rows.some(({ action }) => isSpending(action))) {
        // From here on the lock knows of purchases: a command to go on with begins none.
        const { new: isNew, ...given } = terminal.called.options;
        terminal.called = { ...terminal.called, options: given };
      }
      const recorder = await makeRecorder(plan, {
        ...{ terminal, clock: systemClock, paths },
        events: events?.(),
        json: options.json === true ? () => planJson(live?.carriedOut ?? plan) : undefined,
        page: options.review === true ? () => page : undefined,
        latest: () => live?.latest ?? plan,
        detail: options.quiet === true ? 'quiet' : options.verbose === true ? 'events' : undefined,
        bell: options.bell === true,
        elsewhere: engine !== undefined && engine.url !== 'embedded',
      });
      // Before a run begins a signal ends the process, and an error that nobody awaits as well.
      const interruption = listenForInterruption();
      const stray = listenForStrayErrors();
      return {
        on(event) {
          if (event.event === 'spending-stopped' && event.because === 'price') isPassed = true;
          recorder.on(event);
        },
        times: recorder.times,
        signal: interruption.signal,
        leave: interruption.secondSignal,
        stray,
        async end() {
          await recorder.end();
          interruption.stop();
          stray.stop();
        },
      };
    },
  });
  const applied = await work.catch(async (error: unknown) => {
    if (begun !== undefined) await notification?.broke(begun, error);
    throw error;
  });
  if (applied.is !== 'ran') {
    terminal.err(`nothing ${isAnew ? 'more ' : ''}was spent\n`);
    return { exit: applied.is === 'no' ? exitCodes.done : exitCodes.interrupted, isPassed: false, hasRun: false };
  }
  if (options.json === true && applied.result.end === undefined) {
    throw new CampaignError({
      code: 'MB3501',
      message: 'the run was left at once: what was on its way stays on record',
      hint: 'run again to collect it',
    });
  }
  tellWaiting(applied.carriedOut, { ...context, file, options, planned: applied.made });
  const { exit, outcomes } = applied.result;
  tellOpenGates(applied.carriedOut, terminal, { review: options.review, isDone: exit === exitCodes.done, outcomes });
  await notification?.ended(applied);
  return { exit, isPassed: isPassed && exit === exitCodes.outOfCredits, hasRun: true };
}
