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
  approved?: Approved | undefined;
  /** Warning about a field that is most likely misspelt, which the user did not see before giving `--yes`. */
  misspelt?: string | undefined;
  /** Path of the manifest as given by the user. */
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

/** Whether the user is asked again when charges exceed the agreed credits. */
export function canAskAgain({ yes, json, events }: ApplyOptions, { interactive }: Terminal): boolean {
  return interactive && yes !== true && json !== true && events === undefined;
}

/**
 * Marks a plan to be asked about again: if a price can neither be estimated nor bounded, the user agrees to it when
 * it is known. An earlier approval counts like an answer here: if the plan costs more than the approver could know,
 * the run ends, and needs another approval.
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

/** Whether a user can be asked for consent that no option gives. */
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
 * Consent to posts: `--publish`, an approval that shows the posts, or an answer of the user. Neither the budget nor
 * `--yes` is consent to a post.
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

/**
 * Asks one question for each post that may already be published under another step name, and shows the text of both.
 */
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
