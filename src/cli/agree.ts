import type { Approved } from '../campaign/approvals.ts';
import type { SavedPlan } from '../campaign/saved-plan.ts';
import { systemClock } from '../contract/clock.ts';
import { CampaignError } from '../contract/failure.ts';
import { type Call, way } from '../ground/advice.ts';
import { hasWork, publishes } from '../plan/actions.ts';
import type { Plan, PlanTotals } from '../plan/plan.ts';
import { admitPosts, allowPosts, postsOf, withholdPosts } from '../plan/posts/post-consent.ts';
import { isAskedAbout } from '../plan/posts/post-record.ts';
import { isBought, withholdPurchases } from '../plan/prices/spend-consent.ts';
import { strong, type Text } from '../report/document.ts';
import { countOf } from '../report/numbers.ts';
import { capText, pickedText, spendText } from '../report/plan/plan-money.ts';
import { postsText, sideBySide } from '../report/plan/post-words.ts';
import { safeText } from '../report/safe-text.ts';
import { askPerson } from './ask-person.ts';
import { approving, type Consent } from './consent.ts';
import type { ApplyOptions } from './open.ts';
import { type Terminal, tell } from './terminal.ts';

interface Context {
  terminal: Terminal;
  consent: Consent;
  saved?: SavedPlan;
  /** Whether somebody has approved the saved plan. */
  approved?: Approved | undefined;
  /** Warning of a field that is most likely misspelt: `--yes` was given before anybody saw it. */
  misspelt?: string | undefined;
  /** The manifest, as it was named. */
  file: string;
  /** The plan once more, as a command that shows it to somebody. */
  showing: Call;
  show(plan: Plan): void;
}

/**
 * Credits and posts are agreed to apart. What comes back is carried out: the plan with its posts, or without those that
 * nobody agreed to. Where nobody agrees to the credits it is what is paid already; with nothing of that it throws MB3007.
 */
export async function agreeTo(
  made: Plan,
  options: ApplyOptions,
  context: Context,
): Promise<Plan | 'no' | 'interrupted'> {
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

/** Whether a run in which charges pass what was agreed to is followed by another question. */
export function canAskAgain({ yes, json, events }: ApplyOptions, { interactive }: Terminal): boolean {
  return interactive && yes !== true && json !== true && events === undefined;
}

/**
 * A price that nobody could estimate, and no cap bounds, is agreed to once it is known. Who approved a plan is as if they
 * sat here: where it costs more than they could know, the run ends, and they are asked by another approval.
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
  // What somebody agreed to beforehand was settled then.
  const isSettled = saved !== undefined || context.approved?.is === 'approved';
  const asksPairs = !isSettled && mayAsk(options, context) && plan.rows.some(isAskedAbout);
  if (consent !== 'asked' && !asksPairs) return consent === 'given' ? allowPosts(plan) : plan;
  const answer = consent === 'asked' ? await askToPublish(plan, { terminal }) : 'yes';
  if (answer === 'interrupted') return answer;
  const settled = answer === 'yes' ? plan : withholdPosts(plan);
  const admitted = asksPairs ? await askAboutPosts(plan, { terminal }) : new Set<string>();
  return admitted === 'interrupted' ? admitted : allowPosts(admitPosts(settled, admitted));
}

/** Whether somebody here is to be asked what no option agrees to. */
function mayAsk({ yes }: ApplyOptions, { terminal }: Context): boolean {
  return terminal.interactive && yes !== true;
}

/**
 * Posts go out under an approval if it showed them, with account and time. One whose time is over by now goes out at once,
 * which is not what was approved, unless it was over then.
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

/** No budget and no `--yes` covers a post: it takes `--publish`, an approval that shows it, or a person here. */
function consentToPosts(plan: Plan, options: ApplyOptions, context: Context): 'given' | 'asked' | 'missing' {
  if (!plan.rows.some(publishes) || options.publish === true) return 'given';
  if (context.approved?.is === 'approved') return 'given';
  return mayAsk(options, context) ? 'asked' : 'missing'; // I24
}

/**
 * Nothing is spent that nobody agreed to: a person here, `--yes`, or an approval. Neither a budget is a yes, nor a saved plan.
 * `nothing`: it takes no agreement.
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
      ? `${consent.because}, and --yes is a person's to give`
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
        ? ['or they agree beforehand, with --yes']
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
 * Asks before credits are spent. `free`: how many steps are carried out for nothing, where nothing is spent at all.
 * `withPicks`: what follows gates is bought in the same run.
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

/** A question of its own: what goes public is not taken back, whatever it costs. */
function askToPublish(plan: Plan, { terminal }: { terminal: Terminal }) {
  const targets = postsOf(plan.rows, 'published');
  const posts = postsText(targets, systemClock.now());
  return askPerson([strong('Publish'), ` ${posts}? This cannot be taken back.`], { yes: false, terminal });
}

/** One question for each post that may be out under another name, with the words of both. */
async function askAboutPosts(
  plan: Plan,
  { terminal }: { terminal: Terminal },
): Promise<ReadonlySet<string> | 'interrupted'> {
  const admitted = new Set<string>();
  for (const row of plan.rows.filter(isAskedAbout)) {
    const { address, beside, post } = row;
    if (beside === undefined || post === undefined) continue;
    const known = safeText(beside.address, 200);
    terminal.err(`${safeText(address, 200)} may be ${known}, which is out, under another name\n`);
    tell(terminal, sideBySide(row));
    const question = [strong('Publish'), ` ${postsText([post])}, in addition to ${known}? This cannot be undone.`];
    const answer = await askPerson(question, { yes: false, terminal });
    if (answer === 'interrupted') return answer;
    if (answer === 'yes') admitted.add(address);
  }
  return admitted;
}
