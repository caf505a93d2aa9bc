import { join, resolve } from 'node:path';
import { ApplySession } from '../campaign/apply.ts';
import { type Approved, endApproval, findApproval } from '../campaign/approvals.ts';
import type { EngineChoice, Held, Running } from '../campaign/carrier.ts';
import { requireCheckedGraph } from '../campaign/checked-graph.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { optionTable } from '../campaign/option-table.ts';
import type { RunResult } from '../campaign/run.ts';
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
import { findUnselected, tellCredential, tellUnselected } from './plan-notices.ts';
import { makeRecorder, openEvents } from './recorder.ts';
import { listenForInterruption, listenForStrayErrors } from './signals.ts';
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

/** The plan as made and as carried out, and the end of its run. */
export interface Applied {
  made: Plan;
  carriedOut: Plan;
  result: RunResult;
}

/** One question to the user, and the run of the plan that was agreed to. */
interface Round extends RoundContext {
  options: ApplyOptions;
  engine: EngineChoice | undefined;
  session: ApplySession;
  events: ReturnType<typeof openEvents>;
  /** Port of the review page. Omitted for any that is free. */
  port: number | undefined;
  approved?: Approved;
  view: RunView;
  /** Whether charges exceeded what was agreed to. */
  isPassed: boolean;
}

async function applyOnce(options: ApplyOptions, context: RoundContext): Promise<Ended> {
  const { campaign, terminal, isAskedAgain } = context;
  const round = await openRound(options, context);
  const applied = await carryOut(round).finally(() => round.session.close());
  endStage('run');
  if (applied === 'no' || applied === 'interrupted') {
    terminal.err(`nothing ${isAskedAgain ? 'more ' : ''}was spent\n`);
    return { exit: applied === 'no' ? exitCodes.done : exitCodes.interrupted, isPassed: false, hasRun: false };
  }
  const { made: planned, carriedOut, result } = applied;
  const { exit, outcomes } = result;
  const { view, approved, isPassed } = round;
  const shown = { ...context, file: campaign.file, options };
  if (options.json === true) await printResult(applied, { ...shown, view });
  if (approved?.is === 'approved' && isDone(applied)) await endApproval(approved.approval, systemClock.now());
  tellWaiting(carriedOut, { ...shown, planned, outcomes });
  tellOpenGates(carriedOut, terminal, { review: options.review, isDone: exit === exitCodes.done, outcomes });
  return { exit, isPassed: isPassed && exit === exitCodes.outOfCredits, hasRun: true };
}

/** Checks the options, the manifest and the file of `--events`. */
async function openRound(options: ApplyOptions, context: RoundContext): Promise<Round> {
  const { campaign, terminal, given, saved, isAskedAgain, consent } = context;
  const { paths, varFiles } = campaign;
  const { yes, serviceMoved, sandboxCredits: credits, sandboxSpeed: speed, sandboxFailRate: failRate } = options;
  const engine = engineFor(options);
  const port = options.review === true ? (await import('./serve-page.ts')).reviewPortIn(process.env) : undefined;
  const checked = await requireCheckedGraph(campaign, { isRun: true });
  endStage('graph');
  const files = checked.inputs.map((path) => join(paths.folder, path));
  const inputs = [paths.manifest, paths.lock, ...varFiles, ...files].map((path) => resolve(path));
  const events = openEvents(options.events, { inputs, terminal });
  const session = await ApplySession.open(campaign, checked, {
    ...options,
    ...{ saved, isAskedAgain, given, engine, rehearsal: { credits, speed, failRate } },
    lockTimeoutMs: options.lockTimeoutMs ?? optionTable.lockTimeoutMs.standard,
    createTimeoutMs: options.requestTimeoutMs,
    ...(serviceMoved === true && { askAboutMove: (question) => askAboutMove(question, { yes, terminal, consent }) }),
  });
  return { ...context, options, engine, session, events, port, view: createRunView(), isPassed: false };
}

async function carryOut(round: Round): Promise<Applied | 'no' | 'interrupted'> {
  const { session } = round;
  const found = await session.plan();
  if ('watch' in found) return watch(found, found.plan, round);
  endStage('plan');
  const agreed = await agree(found, round);
  if (agreed === 'no' || agreed === 'interrupted') return agreed;
  const { made } = found;
  const running = await session.start(agreed);
  return 'result' in running ? { made, carriedOut: agreed, result: running.result } : watch(running, made, round);
}

async function agree({ made, misspelt }: Held, round: Round): Promise<Plan | 'no' | 'interrupted'> {
  const { options, campaign, session, terminal, saved, isAskedAgain, consent } = round;
  const { file, replays } = campaign;
  const unselected = findUnselected(made, { options, graph: session.checked.graph, command: 'apply' });
  // Checked while the lock is held, because another run may have used the approval up.
  if (saved !== undefined && !isAskedAgain) {
    round.approved = await findApproval(saved, { campaign, now: systemClock.now() });
  }
  tellApproved(round.approved, terminal);
  const show = (planned: Plan) => {
    showPlan(planned, round);
    tellUnselected(unselected, terminal, { ends: true });
    tellCredential(planned, replays, terminal);
  };
  return agreeTo(made, options, {
    ...{
      terminal,
      consent,
      show,
      approved: round.approved,
      file,
      showing: showingCall(file, options, saved),
      misspelt,
    },
    ...(!isAskedAgain && saved && { saved }),
  });
}

function showPlan(planned: Plan, { options, campaign, terminal }: Round): void {
  const { quiet, yes, json, events } = options;
  // A user who must consent sees the plan before the question.
  if (json || events === '-' || (quiet === true && (yes === true || !terminal.interactive))) return;
  const { style, width } = terminal;
  const text = planText(planned, { style, width, isRehearsal: campaign.sandbox, now: systemClock.now() });
  terminal.github?.(openGroup('plan'));
  terminal.err(text);
  terminal.github?.(closeGroup);
}

async function watch(running: Running, made: Plan, round: Round): Promise<Applied> {
  const { options, campaign, terminal, session, engine, events, port, approved } = round;
  const { review, quiet, verbose } = options;
  const { plan, judge, filesStay } = running;
  if (plan.rows.some(({ action }) => isSpending(action))) {
    // The lock now has purchases, so a command that continues must not contain `--new`.
    const { new: isNew, ...given } = terminal.called.options;
    terminal.called = { ...terminal.called, options: given };
  }
  let page: string | undefined;
  const recorder = await makeRecorder(plan, {
    ...{ terminal, clock: systemClock, paths: campaign.paths, filesStay },
    events: events?.(),
    page: review === true ? () => page : undefined,
    latest: () => judge?.latest ?? plan,
    detail: quiet === true ? 'quiet' : verbose === true ? 'events' : undefined,
    elsewhere: engine !== undefined,
  });
  round.view = recorder.view;
  // Until a run begins, a signal or an unhandled error ends the process.
  const interruption = listenForInterruption();
  const stray = listenForStrayErrors();
  session.add(async () => {
    await recorder.end();
    interruption.stop();
    stray.stop();
  });
  if (judge !== undefined) {
    const shown = await (await import('./serve-page.ts')).showRun(judge, port, round);
    page = shown.url;
    session.add(() => shown.end());
  }
  const result = await session.watch(running, {
    on(event) {
      if (event.event === 'spending-stopped' && event.because === 'price') round.isPassed = true;
      recorder.on(event);
    },
    times: recorder.times,
    approved: approved?.is === 'approved' ? approved.approval : undefined,
    signal: interruption.signal,
    leave: interruption.secondSignal,
    stray,
  });
  return { made, carriedOut: judge?.carriedOut ?? plan, result };
}

/** Prints one JSON document on stdout: how the run ended, the state of each step, and the next steps. */
async function printResult(
  applied: Applied,
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
function isDone({ carriedOut, result }: Applied): boolean {
  const ends: readonly (StepOutcome | undefined)[] = ['done', 'failed', 'unneeded'];
  const isOver = ({ address, action }: PlanRow) =>
    action === 'keep' || action === 'orphan' || ends.includes(result.outcomes.get(address));
  return result.end !== undefined && carriedOut.rows.every((row) => row.send !== undefined || isOver(row));
}
