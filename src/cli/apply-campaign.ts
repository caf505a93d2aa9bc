import { join, resolve } from 'node:path';
import { applyGraph } from '../campaign/apply.ts';
import type { Applied } from '../campaign/apply-options.ts';
import { type Approved, endApproval, findApproval } from '../campaign/approvals.ts';
import { requireCheckedGraph } from '../campaign/checked-graph.ts';
import type { LiveRun } from '../campaign/live-run.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { optionTable } from '../campaign/option-table.ts';
import type { SavedPlan } from '../campaign/saved-plan.ts';
import { systemClock } from '../contract/clock.ts';
import type { StepOutcome } from '../contract/event.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError } from '../contract/failure.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import { good, line } from '../report/document.ts';
import { closeGroup, openGroup } from '../report/github-commands.ts';
import { clockText } from '../report/numbers.ts';
import { planText } from '../report/plan/plan-text.ts';
import { resultText } from '../report/run/result-json.ts';
import { createRunView, type RunView } from '../report/run/run-view.ts';
import { safeText } from '../report/safe-text.ts';
import { agreeTo, canAskAgain } from './agree.ts';
import { askAboutMove } from './ask-person.ts';
import { type Consent, consentIn, withConsent } from './consent.ts';
import { engineFor } from './engine-choice.ts';
import type { ApplyOptions } from './open.ts';
import { findUnselected, tellCredential, tellUnselected, type Unselected } from './plan-notices.ts';
import { makeRecorder, openEvents } from './recorder.ts';
import { type Interruption, listenForInterruption, listenForStrayErrors } from './signals.ts';
import { type Terminal, tell } from './terminal.ts';
import { endStage } from './timing.ts';
import { showingCall, tellOpenGates, tellWaiting } from './waiting.ts';

export interface ApplyContext {
  campaign: OpenCampaign;
  /**
   * Digest of all inputs of the plan other than files. Omitted when the command has more to do than to report that
   * everything is up to date.
   */
  given: string | undefined;
  terminal: Terminal;
  saved?: SavedPlan;
}

/**
 * Plans, asks for consent, runs, and writes the lock. When charges exceed the agreed total, an interactive terminal
 * asks again, with the price of the remaining steps.
 */
export async function applyCampaign(typed: ApplyOptions, given: ApplyContext): Promise<number> {
  const { terminal } = given;
  endStage('load');
  const consent = consentIn(process.env, { sandbox: typed.sandbox === true });
  const options = withConsent(typed, consent);
  let applied = await applyOnce(options, { ...given, consent });
  while (applied.isPassed && canAskAgain(options, terminal)) {
    terminal.err(
      `\n${terminal.style.bold('asked again')}: the rest costs more than was agreed to, or is priced only now\n`,
    );
    const next = await applyOnce(options, { ...given, consent, isAskedAgain: true });
    if (!next.hasRun) break;
    applied = next;
  }
  return applied.exit;
}

interface RoundContext extends ApplyContext {
  consent: Consent;
  isAskedAgain?: true;
}

interface Ended {
  exit: number;
  isPassed: boolean;
  hasRun: boolean;
}

async function applyOnce(options: ApplyOptions, context: RoundContext): Promise<Ended> {
  const { campaign, terminal, given, saved, isAskedAgain, consent } = context;
  const { paths, replays, file } = campaign;
  const { serviceMoved, yes } = options;
  const engine = engineFor(options);
  const port = options.review === true ? (await import('./review-run.ts')).reviewPortIn(process.env) : undefined;
  let events: ReturnType<typeof openEvents>;
  let interruption: Interruption | undefined;
  let unselected: Unselected | undefined;
  let live: LiveRun | undefined;
  let address: string | undefined;
  let isPassed = false;
  let approved: Approved | undefined;
  let view = createRunView();
  const show = (planned: Plan) => {
    // A user who must consent sees the plan before the question.
    const isQuiet = options.quiet === true && (yes === true || !terminal.interactive);
    if (!options.json && options.events !== '-' && !isQuiet) {
      const text = planText(planned, {
        ...{ style: terminal.style, width: terminal.width },
        ...{ isRehearsal: campaign.sandbox, now: systemClock.now() },
      });
      terminal.github?.(openGroup('plan'));
      terminal.err(text);
      terminal.github?.(closeGroup);
    }
    tellUnselected(unselected, terminal, { ends: true });
    tellCredential(planned, replays, terminal);
  };
  const applied = await applyGraph(campaign, {
    async check() {
      const checked = await requireCheckedGraph(campaign, { isRun: true });
      endStage('graph');
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
    isAskedAgain,
    given,
    lockTimeoutMs: options.lockTimeoutMs ?? optionTable.lockTimeoutMs.standard,
    createTimeoutMs: options.requestTimeoutMs,
    rehearsal: {
      credits: options.sandboxCredits,
      speed: options.sandboxSpeed,
      failRate: options.sandboxFailRate,
    },
    engine,
    ...(serviceMoved === true && { askAboutMove: (question) => askAboutMove(question, { yes, terminal, consent }) }),
    verify(made, graph) {
      endStage('plan');
      unselected = findUnselected(made, { options, graph, command: 'apply' });
    },
    review:
      options.review === true
        ? async (run) => {
            const shown = await (await import('./review-run.ts')).showRun(run, port, context);
            live = run;
            address = shown.url;
            return shown;
          }
        : undefined,
    async agree(made, { misspelt }) {
      // Checked while the lock is held, because another run may have used the approval up.
      if (saved !== undefined && !isAskedAgain) {
        approved = await findApproval(saved, { campaign, now: systemClock.now() });
      }
      tellApproved(approved, terminal);
      const agreed = await agreeTo(made, options, {
        ...{ terminal, consent, show, approved, file, showing: showingCall(file, options, saved), misspelt },
        ...(!isAskedAgain && saved && { saved }),
      });
      return interruption?.signal.aborted === true ? 'interrupted' : agreed;
    },
    async observe({ plan, filesStay }) {
      if (plan.rows.some(({ action }) => isSpending(action))) {
        // The lock now has purchases, so a command that continues must not contain `--new`.
        const { new: isNew, ...given } = terminal.called.options;
        terminal.called = { ...terminal.called, options: given };
      }
      const recorder = await makeRecorder(plan, {
        ...{ terminal, clock: systemClock, paths },
        events: events?.(),
        page: options.review === true ? () => address : undefined,
        latest: () => live?.latest ?? plan,
        detail: options.quiet === true ? 'quiet' : options.verbose === true ? 'events' : undefined,
        elsewhere: engine !== undefined,
        filesStay,
      });
      view = recorder.view;
      // Until a run begins, a signal or an unhandled error ends the process.
      const listening = listenForInterruption();
      interruption = listening;
      const stray = listenForStrayErrors();
      return {
        on(event) {
          if (event.event === 'spending-stopped' && event.because === 'price') isPassed = true;
          recorder.on(event);
        },
        times: recorder.times,
        approved: approved?.is === 'approved' ? approved.approval : undefined,
        signal: listening.signal,
        leave: listening.secondSignal,
        stray,
        async end() {
          await recorder.end();
          listening.stop();
          stray.stop();
        },
      };
    },
  });
  endStage('run');
  if (applied.is !== 'ran') {
    terminal.err(`nothing ${isAskedAgain ? 'more ' : ''}was spent\n`);
    return { exit: applied.is === 'no' ? exitCodes.done : exitCodes.interrupted, isPassed: false, hasRun: false };
  }
  if (options.json === true) await printResult(applied, { ...context, file, options, view });
  const { exit, outcomes } = applied.result;
  if (approved?.is === 'approved' && isDone(applied)) await endApproval(approved.approval, systemClock.now());
  tellWaiting(applied.carriedOut, { ...context, consent, file, options, planned: applied.made, outcomes });
  tellOpenGates(applied.carriedOut, terminal, { review: options.review, isDone: exit === exitCodes.done, outcomes });
  return { exit, isPassed: isPassed && exit === exitCodes.outOfCredits, hasRun: true };
}

/** Prints one JSON document on stdout: how the run ended, the state of each step, and the next steps. */
async function printResult(
  applied: Extract<Applied, { is: 'ran' }>,
  { view, ...context }: ApplyContext & { file: string; options: ApplyOptions; view: RunView },
): Promise<void> {
  const { carriedOut, result } = applied;
  const { outcomes, end } = result;
  if (end === undefined) {
    throw new CampaignError({
      code: 'MB3501',
      message: 'the run was stopped at once: its open requests are on record',
      hint: 'run again to collect it',
    });
  }
  const { nextOfRun } = await import('./next-steps.ts');
  const next = nextOfRun(applied, context);
  context.terminal.out(resultText({ plan: carriedOut, outcomes, view, end, next }));
}

/** Shows by whom the plan was approved, because the user is not asked. */
function tellApproved(approved: Approved | undefined, terminal: Terminal): void {
  if (approved?.is !== 'approved') return;
  const { by, at, what } = approved.approval;
  tell(terminal, line([good('approved'), ` by ${safeText(by, 100)} at ${clockText(at)}: ${safeText(what, 500)}`]));
}

/** Whether the approval of a plan permits no further purchase. */
function isDone({ carriedOut, result }: Extract<Applied, { is: 'ran' }>): boolean {
  const ends: readonly (StepOutcome | undefined)[] = ['done', 'failed', 'unneeded'];
  const isOver = ({ address, action }: PlanRow) =>
    action === 'keep' || action === 'orphan' || ends.includes(result.outcomes.get(address));
  return result.end !== undefined && carriedOut.rows.every((row) => row.send !== undefined || isOver(row));
}
