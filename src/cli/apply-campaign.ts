import { join, resolve } from 'node:path';
import { ApplySession } from '../campaign/apply.ts';
import { requireCheckedGraph } from '../campaign/checked-graph.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { optionTable } from '../campaign/option-table.ts';
import type { EngineChoice, LockedPlan, Running, RunResult } from '../campaign/run.ts';
import { type Approved, endApproval, findApproval, type SavedPlan } from '../campaign/saved-plan.ts';
import type { Approval } from '../contract/approval.ts';
import { systemClock } from '../contract/clock.ts';
import type { StepOutcome } from '../contract/event.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError } from '../contract/failure.ts';
import { way } from '../ground/advice.ts';
import { hasWork, isSpending, publishes } from '../plan/actions.ts';
import { admitPosts, allowPosts, isBought, postsOf, withholdPosts, withholdPurchases } from '../plan/consent.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import { isAskedAbout } from '../plan/posts/post-record.ts';
import { facts, good, line, strong } from '../report/document.ts';
import { clockText, countOf } from '../report/numbers.ts';
import { capText, limitFacts, pickedText, postsText, sideBySide, spendText } from '../report/plan/plan-facts.ts';
import { planText } from '../report/plan/plan-text.ts';
import { resultText } from '../report/run/result-json.ts';
import { createRunView, type RunView } from '../report/run/run-view.ts';
import { safeText } from '../report/safe-text.ts';
import { approving, askAboutMove, askPerson, type Consent, consentIn, withConsent } from './consent.ts';
import { applyingPlan, nextOfPlan, nextOfRun, printNextSteps, showingCall } from './next-steps.ts';
import type { ApplyOptions } from './open.ts';
import { warnCredential, warnUnselected } from './plan-notices.ts';
import { makeRecorder, openEvents } from './recorder.ts';
import { listenForInterruption, listenForUnhandledErrors } from './signals.ts';
import { print, type Terminal } from './terminal.ts';
import { endStage } from './timing.ts';

interface ApplyContext {
  campaign: OpenCampaign;
  /** Digest of all inputs of the plan except files. If undefined, `apply` always plans, even if nothing changed. */
  given: string | undefined;
  engine: EngineChoice | undefined;
  terminal: Terminal;
  saved: SavedPlan | undefined;
}

/**
 * Plans, gets approval, executes the plan and updates the lock. If charges exceed the approved total, prompts again on
 * an interactive terminal with the price of the remaining steps.
 */
export async function applyCampaign(typed: ApplyOptions, given: ApplyContext): Promise<number> {
  const { terminal } = given;
  endStage('load');
  const consent = consentIn(process.env, { sandbox: typed.sandbox === true });
  const options = withConsent(typed, consent);
  let applied = await applyOnce(options, { ...given, consent });
  while (applied.isPassed && canAskAgain(options, terminal)) {
    terminal.err(
      `\n${terminal.style.bold('approve again')}: the remaining steps cost more than was approved, or their price was unknown until now\n`,
    );
    const next = await applyOnce(options, { ...given, consent, isAskedAgain: true });
    if (!next.hasRun) break;
    applied = next;
  }
  return applied.exit;
}

interface Round extends ApplyContext {
  consent: Consent;
  isAskedAgain?: true;
  options: ApplyOptions;
  session: ApplySession;
  events: ReturnType<typeof openEvents>;
  /** Port of the review page. If undefined, the system chooses a free port. */
  port: number | undefined;
  approved?: Approved;
  view: RunView;
  isPassed: boolean;
}

type RoundContext = Pick<Round, keyof ApplyContext | 'consent' | 'isAskedAgain'>;

interface Applied {
  planned: Plan;
  carriedOut: Plan;
  result: RunResult;
}

async function applyOnce(
  options: ApplyOptions,
  context: RoundContext,
): Promise<{ exit: number; isPassed: boolean; hasRun: boolean }> {
  const { campaign, terminal, isAskedAgain } = context;
  const round = await openRound(options, context);
  const applied = await carryOut(round).finally(() => round.session.close());
  endStage('run');
  if (applied === 'no' || applied === 'interrupted') {
    terminal.err(`nothing ${isAskedAgain ? 'more ' : ''}was spent\n`);
    return { exit: applied === 'no' ? exitCodes.done : exitCodes.interrupted, isPassed: false, hasRun: false };
  }
  const { approved, isPassed } = round;
  const { exit } = applied.result;
  const run = { ...context, ...applied, file: campaign.file, options };
  if (options.json === true) printResult(run, round.view);
  if (approved?.is === 'approved' && isDone(applied)) await endApproval(approved.approval, systemClock.now());
  printNextSteps(run, round.view);
  return { exit, isPassed: isPassed && exit === exitCodes.outOfCredits, hasRun: true };
}

async function openRound(options: ApplyOptions, context: RoundContext): Promise<Round> {
  const { campaign, terminal, given, engine, saved, isAskedAgain, consent } = context;
  const { paths, varFiles } = campaign;
  const { yes, serviceMoved, sandboxCredits: credits, sandboxSpeed: speed, sandboxFailRate: failRate } = options;
  const port = options.review === true ? (await import('./serve-page.ts')).reviewPortIn(process.env) : undefined;
  const checked = await requireCheckedGraph(campaign, { isRun: true });
  endStage('graph');
  const asked = checked.asked.filter(({ ask }) => ask === 'data' || ask === 'bytes' || ask === 'digest');
  const files = asked.map(({ path }) => join(paths.folder, path));
  const inputs = [paths.manifest, paths.lock, ...varFiles, ...files].map((path) => resolve(path));
  const events = openEvents(options.events, { inputs, terminal });
  const session = await ApplySession.open(campaign, checked, {
    ...options,
    ...{ saved, isAskedAgain, given, engine, rehearsal: { credits, speed, failRate } },
    lockTimeoutMs: options.lockTimeoutMs ?? optionTable.lockTimeoutMs.standard,
    createTimeoutMs: options.requestTimeoutMs,
    ...(serviceMoved === true && { askAboutMove: (question) => askAboutMove(question, { yes, terminal, consent }) }),
  });
  return { ...context, options, session, events, port, view: createRunView(), isPassed: false };
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
  return 'result' in running
    ? { planned: made, carriedOut: agreed, result: running.result }
    : watch(running, made, round);
}

/** Gets approval for credits, then for posts. Returns the approved part of the plan. Throws MB3007 if there is none. */
async function agree({ made, misspelt }: LockedPlan, round: Round): Promise<Plan | 'no' | 'interrupted'> {
  const { options, campaign, terminal, saved, isAskedAgain } = round;
  // The approval is checked while the lock is held, because another run may have used the approval.
  if (saved !== undefined && !isAskedAgain) {
    round.approved = await findApproval(saved, { campaign, now: systemClock.now() });
  }
  const { approved } = round;
  const covered = approved?.is === 'approved' ? withoutUnapproved(made, approved.approval, round) : made;
  const consent = consentToPosts(covered, round);
  const plan = consent === 'missing' ? withholdPosts(covered) : covered;
  if (approved?.is === 'approved') {
    const { by, at, what } = approved.approval;
    print(terminal, line([good('approved'), ` by ${safeText(by, 100)} at ${clockText(at)}: ${safeText(what, 500)}`]));
  }
  showPlan(plan, round);
  warnUnselected(made, { options, terminal, ends: true });
  warnCredential(plan, campaign.replays, terminal);
  const spends = await agreeToSpend(plan, misspelt, round);
  if (spends === 'no' || spends === 'interrupted') return spends;
  const agreed = spends === 'yes' ? plan : withholdPurchases(plan);
  if (spends === 'nobody' && !hasWork(agreed)) throw refuseWithoutConsent(made, plan, misspelt, round);
  return agreeToPosts(asksAgain(agreed, round), consent, round);
}

function showPlan(planned: Plan, { options, campaign, terminal }: Round): void {
  const { quiet, yes, json, events } = options;
  // The plan is shown before the prompt.
  if (json || events === '-') return;
  if (quiet === true && (yes === true || !terminal.interactive)) {
    if (!hasWork(planned)) print(terminal, facts(limitFacts(planned)));
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
    // The lock now has purchases, so printed commands must not contain `--new`.
    const { new: isNew, ...given } = terminal.called.options;
    terminal.called = { ...terminal.called, options: given };
  }
  let page: string | undefined;
  const recorder = await makeRecorder(plan, {
    ...{ terminal, paths: campaign.paths, filesStay },
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
  const stray = listenForUnhandledErrors();
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
  return { planned: made, carriedOut: judge?.carriedOut ?? plan, result };
}

function printResult(run: Parameters<typeof nextOfRun>[0] & Applied, view: RunView): void {
  const { carriedOut, result, terminal } = run;
  const { outcomes, end } = result;
  if (end === undefined) {
    throw new CampaignError({
      code: 'MB3501',
      message: 'the run was stopped immediately; its unanswered create requests are on record',
      hint: 'apply again to collect the jobs of the run',
    });
  }
  terminal.out(resultText({ plan: carriedOut, outcomes, view, end, next: nextOfRun(run, view) }));
}

function isDone({ carriedOut, result }: Applied): boolean {
  const ends: readonly (StepOutcome | undefined)[] = ['done', 'failed', 'unneeded'];
  const isOver = ({ address, action }: PlanRow) =>
    action === 'keep' || action === 'orphan' || ends.includes(result.outcomes.get(address));
  return result.end !== undefined && carriedOut.rows.every((row) => row.send !== undefined || isOver(row));
}

function canAskAgain({ yes, json, events }: ApplyOptions, { interactive }: Terminal): boolean {
  return interactive && yes !== true && json !== true && events === undefined;
}

/** Marks a plan with unknown prices and no limit, so that `apply` asks again once the prices are known. */
function asksAgain(plan: Plan, { options, terminal, approved }: Round): Plan {
  const { totals } = plan;
  const { estimate, budget, maxCredits } = totals;
  const isBounded = budget !== undefined || maxCredits !== undefined;
  const isAsked = approved?.is === 'approved' ? options.yes !== true : canAskAgain(options, terminal);
  if (isBounded || (estimate?.unpriced ?? 0) === 0 || !isAsked) return plan;
  return { ...plan, totals: { ...totals, asksAgain: true } };
}

type PostConsent = 'given' | 'asked' | 'missing';

async function agreeToPosts(plan: Plan, consent: PostConsent, round: Round): Promise<Plan | 'interrupted'> {
  const { terminal, saved, isAskedAgain, approved } = round;
  // The user has already approved a saved plan.
  const isSettled = (saved !== undefined && !isAskedAgain) || approved?.is === 'approved';
  const asksPairs = !isSettled && mayAsk(round) && plan.rows.some(isAskedAbout);
  if (consent !== 'asked' && !asksPairs) return consent === 'given' ? allowPosts(plan) : plan;
  // Publishing cannot be undone, so it needs a prompt of its own, even for 0 credits.
  const posts = postsText(postsOf(plan.rows, 'published'), systemClock.now());
  const question = [strong('Publish'), ` ${posts}? This cannot be undone.`];
  const answer = consent === 'asked' ? await askPerson(question, { yes: false, terminal }) : 'yes';
  if (answer === 'interrupted') return answer;
  const settled = answer === 'yes' ? plan : withholdPosts(plan);
  const admitted = asksPairs ? await askAboutPosts(plan, terminal) : new Set<string>();
  return admitted === 'interrupted' ? admitted : allowPosts(admitPosts(settled, admitted));
}

function mayAsk({ options, terminal }: Round): boolean {
  return terminal.interactive && options.yes !== true;
}

/**
 * Withholds posts that the approver did not see. Also withholds a post whose scheduled time has passed since the
 * approval, because it would be published at once.
 */
function withoutUnapproved(plan: Plan, approval: Approval, { options, saved }: Round): Plan {
  if (options.publish === true) return plan;
  const isOver = (at: string | undefined, by: number) => Date.parse(at ?? '') < by;
  const approvedAt = Date.parse(approval.at);
  return withholdPosts(plan, ({ address, post }) => {
    const isLate = isOver(post?.at, systemClock.now()) && !isOver(post?.at, approvedAt);
    return isLate || saved?.publishes.has(address) !== true;
  });
}

/** Posts need `--publish`, an approval that lists them, or the user's answer. `--yes` does not cover posts. */
function consentToPosts(plan: Plan, round: Round): PostConsent {
  if (!plan.rows.some(publishes) || round.options.publish === true) return 'given';
  if (round.approved?.is === 'approved') return 'given';
  return mayAsk(round) ? 'asked' : 'missing'; // I24
}

/**
 * Gets approval for credits from the user, `--yes` or a saved approval. `nothing`: the plan needs no approval.
 * `misspelt`: warning about a field name that is probably misspelt; `--yes` does not approve such a plan.
 */
async function agreeToSpend(
  plan: Plan,
  misspelt: string | undefined,
  { options, terminal, approved }: Round,
): Promise<'yes' | 'no' | 'interrupted' | 'nobody' | 'nothing'> {
  if (approved?.is === 'approved' || (options.yes && misspelt === undefined)) return 'yes';
  const bought = plan.rows.filter(isBought);
  const hasFollowers = options.review === true && plan.rows.some(({ later }) => later !== undefined);
  if (bought.length === 0 && !hasFollowers) return 'nothing';
  if (!terminal.interactive) return 'nobody';
  const { knownPrices, unknownPrices, estimate, afterPicks } = plan.totals;
  const isFree = knownPrices === 0 && unknownPrices === 0;
  const ask = (verb: string, what: string) => askPerson([strong(verb), ` ${what}?`], { yes: false, terminal });
  if (hasFollowers && afterPicks !== undefined) {
    const now = isFree ? '' : `${spendText(plan.totals)} now, `;
    return ask('Spend', `${now}${pickedText(afterPicks)} after the picks`);
  }
  if (isFree) return ask('Carry out', `${countOf(bought.length, 'step')} for 0 credits`);
  const isEstimated = knownPrices + (estimate?.likely ?? 0) > 0;
  return ask(isEstimated ? 'Spend' : 'Buy', `${spendText(plan.totals)}${capText(plan.totals)}`);
}

function refuseWithoutConsent(made: Plan, plan: Plan, misspelt: string | undefined, round: Round): CampaignError {
  const { consent, campaign, options, saved, approved, terminal } = round;
  const { file } = campaign;
  const { knownPrices, unknownPrices } = plan.totals;
  const isFree = knownPrices === 0 && unknownPrices === 0;
  const what = isFree ? countOf(plan.rows.filter(isBought).length, 'step') : spendText(plan.totals);
  const isMisspelt = misspelt !== undefined && options.yes === true;
  const why =
    consent.flags === 'ignored'
      ? `${consent.because}, and --yes is ignored: a user must approve`
      : isMisspelt
        ? `--yes does not approve a field that is probably misspelt: ${misspelt}`
        : 'no interactive terminal for the approval, and no --yes';
  const over = approved?.is === 'not' && approved.why !== undefined ? `; ${safeText(approved.why, 300)}` : '';
  const showing = showingCall(file, options, saved);
  const path = saved?.path ?? showing.words.at(-1) ?? '';
  const flag = consent.flags === 'count' ? ['or add --yes if the payer has already approved'] : [];
  return new CampaignError({
    code: 'MB3007',
    message: `no approval for ${what}: ${why}${over}`,
    hint: [
      ...(saved === undefined ? [way('save the plan', showing)] : []),
      way('have the payer approve the plan in an interactive terminal of this user on this machine', approving(path)),
      ...(misspelt === undefined ? flag : ['or correct the misspelt field']),
    ],
    next: nextOfPlan(made, { file, options: saved === undefined ? options : { ...options, out: path }, terminal }),
  });
}

async function askAboutPosts(plan: Plan, terminal: Terminal): Promise<ReadonlySet<string> | 'interrupted'> {
  const admitted = new Set<string>();
  for (const row of plan.rows.filter(isAskedAbout)) {
    const { address, beside, post } = row;
    if (beside === undefined || post === undefined) continue;
    const known = safeText(beside.address, 200);
    terminal.err(`${safeText(address, 200)} may be the published post ${known} under a new name\n`);
    print(terminal, sideBySide(row));
    const question = [strong('Publish'), ` ${postsText([post])}, in addition to ${known}? This cannot be undone.`];
    const answer = await askPerson(question, { yes: false, terminal });
    if (answer === 'interrupted') return answer;
    if (answer === 'yes') admitted.add(address);
  }
  return admitted;
}
