import { join, resolve } from 'node:path';
import { ApplySession } from '../campaign/apply.ts';
import { type Approved, endApproval, findApproval } from '../campaign/approvals.ts';
import { requireCheckedGraph } from '../campaign/checked-graph.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { optionTable } from '../campaign/option-table.ts';
import type { EngineChoice, Held, Running, RunResult } from '../campaign/run.ts';
import type { SavedPlan } from '../campaign/saved-plan.ts';
import { systemClock } from '../contract/clock.ts';
import type { StepOutcome } from '../contract/event.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError } from '../contract/failure.ts';
import { type Call, way } from '../ground/advice.ts';
import { hasWork, isSpending, publishes } from '../plan/actions.ts';
import { admitPosts, allowPosts, isBought, postsOf, withholdPosts, withholdPurchases } from '../plan/consent.ts';
import type { Plan, PlanRow, PlanTotals } from '../plan/plan.ts';
import { isAskedAbout } from '../plan/posts/post-record.ts';
import { facts, good, line, strong, type Text } from '../report/document.ts';
import { clockText, countOf } from '../report/numbers.ts';
import { capText, limitFacts, pickedText, spendText } from '../report/plan/plan-facts.ts';
import { planText } from '../report/plan/plan-text.ts';
import { postsText, sideBySide } from '../report/plan/post-words.ts';
import { resultText } from '../report/run/result-json.ts';
import { createRunView, type RunView } from '../report/run/run-view.ts';
import { safeText } from '../report/safe-text.ts';
import { askAboutMove, askPerson } from './ask-person.ts';
import { approving, type Consent, consentIn, withConsent } from './consent.ts';
import { engineFor } from './engine-choice.ts';
import type { ApplyOptions } from './open.ts';
import { findUnselected, tellCredential, tellUnselected } from './plan-notices.ts';
import { makeRecorder, openEvents } from './recorder.ts';
import { listenForInterruption, listenForStrayErrors } from './signals.ts';
import { type Terminal, tell } from './terminal.ts';
import { endStage } from './timing.ts';
import { applyingPlan, showingCall, tellOpenGates, tellWaiting } from './waiting.ts';

interface ApplyContext {
  campaign: OpenCampaign;
  /**
   * Digest of all inputs of the plan other than files. Undefined if the command cannot end with the report that
   * everything is up to date.
   */
  given: string | undefined;
  terminal: Terminal;
  saved?: SavedPlan;
}

/**
 * Plans, asks for consent, runs, and writes the lock. When charges exceed the approved total, an interactive terminal
 * prompts again, with the price of the remaining steps.
 */
export async function applyCampaign(typed: ApplyOptions, given: ApplyContext): Promise<number> {
  const { terminal } = given;
  endStage('load');
  const consent = consentIn(process.env, { sandbox: typed.sandbox === true });
  const options = withConsent(typed, consent);
  let applied = await applyOnce(options, { ...given, consent });
  while (applied.isPassed && canAskAgain(options, terminal)) {
    terminal.err(
      `\n${terminal.style.bold('asked again')}: the remaining steps cost more than was approved, or their price was unknown until now\n`,
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

interface Applied {
  made: Plan;
  carriedOut: Plan;
  result: RunResult;
}

/** One prompt for consent, and the run of the approved plan. */
interface Round extends RoundContext {
  options: ApplyOptions;
  engine: EngineChoice | undefined;
  session: ApplySession;
  events: ReturnType<typeof openEvents>;
  /** Port of the review page. Omitted for any that is free. */
  port: number | undefined;
  approved?: Approved;
  view: RunView;
  /** Whether charges exceeded the approved total. */
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
  if (json || events === '-') return;
  if (quiet === true && (yes === true || !terminal.interactive)) {
    if (!hasWork(planned)) tell(terminal, facts(limitFacts(planned)));
    return;
  }
  const { style, width } = terminal;
  const text = planText(planned, { style, width, isRehearsal: campaign.sandbox, now: systemClock.now() });
  terminal.err(text);
}

async function watch(running: Running, made: Plan, round: Round): Promise<Applied> {
  const { options, campaign, terminal, session, engine, events, port, approved, saved } = round;
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
    goingOn: saved && applyingPlan(saved),
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
      hint: 'run again to collect its jobs',
    });
  }
  const { nextOfRun } = await import('./next-steps.ts');
  const next = nextOfRun(applied, { ...context, view });
  context.terminal.out(resultText({ plan: carriedOut, outcomes, view, end, next }));
}

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

interface Context {
  terminal: Terminal;
  consent: Consent;
  saved?: SavedPlan;
  approved?: Approved | undefined;
  /** Warning about a field that is most likely misspelt, which the user did not see before giving `--yes`. */
  misspelt?: string | undefined;
  file: string;
  /** Command that shows the plan again to a user who can approve it. */
  showing: Call;
  show(plan: Plan): void;
}

/**
 * Gets consent to credits and, separately, to posts. Returns the plan to carry out: with its posts, or without the
 * posts that lack consent. Without consent to credits, the plan is reduced to collecting outputs that are paid; if
 * there are none, it throws MB3007.
 */
async function agreeTo(made: Plan, options: ApplyOptions, context: Context): Promise<Plan | 'no' | 'interrupted'> {
  const covered = context.approved?.is === 'approved' ? withoutUnapproved(made, options, context) : made;
  const consent = consentToPosts(covered, options, context);
  const plan = consent === 'missing' ? withholdPosts(covered) : covered;
  context.show(plan);
  const spends = await agreeToSpend(plan, options, context);
  if (spends === 'no' || spends === 'interrupted') return spends;
  const agreed = spends === 'yes' ? plan : withholdPurchases(plan);
  if (spends === 'nobody' && !hasWork(agreed)) throw await refuseWithoutConsent(made, plan, { options, context });
  return agreeToPosts(asksAgain(agreed, options, context), consent, { options, context });
}

function canAskAgain({ yes, json, events }: ApplyOptions, { interactive }: Terminal): boolean {
  return interactive && yes !== true && json !== true && events === undefined;
}

/**
 * Marks a plan with prices that can neither be estimated nor bounded, so that the user is asked again when they are
 * known. An earlier approval counts like an answer: if the plan costs more than the approver could know, the run ends,
 * and needs another approval.
 */
function asksAgain(plan: Plan, options: ApplyOptions, { terminal, approved }: Context): Plan {
  const { totals } = plan;
  const { estimate, budget, maxCredits } = totals;
  const isBounded = budget !== undefined || maxCredits !== undefined;
  const isAsked = approved?.is === 'approved' ? options.yes !== true : canAskAgain(options, terminal);
  if (isBounded || (estimate?.unpriced ?? 0) === 0 || !isAsked) return plan;
  return { ...plan, totals: { ...totals, asksAgain: true } };
}

async function agreeToPosts(
  plan: Plan,
  consent: ReturnType<typeof consentToPosts>,
  { options, context }: { options: ApplyOptions; context: Context },
): Promise<Plan | 'interrupted'> {
  const { terminal, saved } = context;
  // A saved or approved plan was agreed to beforehand.
  const isSettled = saved !== undefined || context.approved?.is === 'approved';
  const asksPairs = !isSettled && mayAsk(options, context) && plan.rows.some(isAskedAbout);
  if (consent !== 'asked' && !asksPairs) return consent === 'given' ? allowPosts(plan) : plan;
  const answer = consent === 'asked' ? await askToPublish(plan, { terminal }) : 'yes';
  if (answer === 'interrupted') return answer;
  const settled = answer === 'yes' ? plan : withholdPosts(plan);
  const admitted = asksPairs ? await askAboutPosts(plan, { terminal }) : new Set<string>();
  return admitted === 'interrupted' ? admitted : allowPosts(admitPosts(settled, admitted));
}

function mayAsk({ yes }: ApplyOptions, { terminal }: Context): boolean {
  return terminal.interactive && yes !== true;
}

/**
 * Withholds posts that the approval does not cover. An approval covers a post if it showed it with account and time.
 * A post whose scheduled time has passed since would be published at once, which was not approved.
 */
function withoutUnapproved(plan: Plan, { publish }: ApplyOptions, { saved, approved }: Context): Plan {
  if (publish === true || approved?.is !== 'approved') return plan;
  const isOver = (at: string | undefined, by: number) => Date.parse(at ?? '') < by;
  const approvedAt = Date.parse(approved.approval.at);
  return withholdPosts(plan, ({ address, post }) => {
    const isLate = isOver(post?.at, systemClock.now()) && !isOver(post?.at, approvedAt);
    return isLate || saved?.publishes.has(address) !== true;
  });
}

/**
 * Returns the consent to posts: `--publish`, an approval that shows the posts, or an answer of the user. Neither the
 * budget nor `--yes` is consent to a post.
 */
function consentToPosts(plan: Plan, options: ApplyOptions, context: Context): 'given' | 'asked' | 'missing' {
  if (!plan.rows.some(publishes) || options.publish === true) return 'given';
  if (context.approved?.is === 'approved') return 'given';
  return mayAsk(options, context) ? 'asked' : 'missing'; // I24
}

/**
 * Gets consent to spend credits: from the user, `--yes` or an approval. A budget or a saved plan is no consent.
 * `nothing`: the plan needs no consent.
 */
async function agreeToSpend(
  plan: Plan,
  options: ApplyOptions,
  { terminal, approved, misspelt }: Context,
): Promise<'yes' | 'no' | 'interrupted' | 'nobody' | 'nothing'> {
  if (approved?.is === 'approved' || (options.yes && misspelt === undefined)) return 'yes';
  const bought = plan.rows.filter(isBought);
  const followers = options.review === true ? plan.rows.filter(({ later }) => later !== undefined) : [];
  if (bought.length + followers.length === 0) return 'nothing';
  if (!terminal.interactive) return 'nobody';
  return askToSpend(plan.totals, { terminal, free: bought.length, withPicks: followers.length > 0 });
}

async function refuseWithoutConsent(
  made: Plan,
  plan: Plan,
  { options, context }: { options: ApplyOptions; context: Context },
): Promise<CampaignError> {
  const { consent, showing, saved, approved, file, terminal, misspelt } = context;
  const { knownPrices, unknownPrices } = plan.totals;
  const what =
    knownPrices === 0 && unknownPrices === 0
      ? countOf(plan.rows.filter(isBought).length, 'step')
      : spendText(plan.totals);
  const why =
    consent.flags === 'ignored'
      ? `${consent.because}, and --yes does not count: a user must approve`
      : misspelt !== undefined && options.yes
        ? `--yes does not cover a field that is most likely misspelt: ${misspelt}`
        : 'no interactive terminal for the approval, and no --yes';
  const over = approved?.is === 'not' && approved.why !== undefined ? `; ${safeText(approved.why, 300)}` : '';
  const shown = saved === undefined ? showing : approving(saved.path);
  const then = saved === undefined ? [way('then', approving(showing.words.at(-1) ?? ''))] : [];
  const flag =
    misspelt !== undefined
      ? ['or correct the field']
      : consent.flags === 'count'
        ? ['or have the payer approve beforehand, with --yes']
        : [];
  const { nextOfRefusal } = await import('./next-steps.ts');
  return new CampaignError({
    code: 'MB3007',
    message: `no approval for ${what}: ${why}${over}`,
    hint: [way('have the payer approve the plan in an interactive terminal', shown), ...then, ...flag],
    next: nextOfRefusal(made, { file, options, saved, terminal }),
  });
}

/**
 * Asks before credits are spent. `free`: the number of steps that cost nothing, when the plan spends nothing.
 * `withPicks`: steps after gates are bought in the same run.
 */
function askToSpend(
  totals: PlanTotals,
  { terminal, free, withPicks }: { terminal: Terminal; free: number; withPicks: boolean },
) {
  const { knownPrices, unknownPrices, estimate, afterPicks } = totals;
  const ask = (question: Text) => askPerson(question, { yes: false, terminal });
  if (withPicks && afterPicks !== undefined) {
    const now = knownPrices === 0 && unknownPrices === 0 ? '' : `${spendText(totals)} now, `;
    return ask([strong('Spend'), ` ${now}${pickedText(afterPicks)} after the picks?`]);
  }
  if (knownPrices === 0 && unknownPrices === 0)
    return ask([strong('Carry out'), ` ${countOf(free, 'step')} for 0 credits?`]);
  const isEstimated = knownPrices + (estimate?.likely ?? 0) > 0;
  return ask([strong(isEstimated ? 'Spend' : 'Buy'), ` ${spendText(totals)}${capText(totals)}?`]);
}

/** Asks about posts separately, because publishing cannot be undone, whatever it costs. */
function askToPublish(plan: Plan, { terminal }: { terminal: Terminal }) {
  const targets = postsOf(plan.rows, 'published');
  const posts = postsText(targets, systemClock.now());
  return askPerson([strong('Publish'), ` ${posts}? This cannot be taken back.`], { yes: false, terminal });
}

async function askAboutPosts(
  plan: Plan,
  { terminal }: { terminal: Terminal },
): Promise<ReadonlySet<string> | 'interrupted'> {
  const admitted = new Set<string>();
  for (const row of plan.rows.filter(isAskedAbout)) {
    const { address, beside, post } = row;
    if (beside === undefined || post === undefined) continue;
    const known = safeText(beside.address, 200);
    terminal.err(`${safeText(address, 200)} may be the published post ${known} under another name\n`);
    tell(terminal, sideBySide(row));
    const question = [strong('Publish'), ` ${postsText([post])}, in addition to ${known}? This cannot be undone.`];
    const answer = await askPerson(question, { yes: false, terminal });
    if (answer === 'interrupted') return answer;
    if (answer === 'yes') admitted.add(address);
  }
  return admitted;
}
