import type { SavedPlan } from '../campaign/saved-plan.ts';
import { CampaignError } from '../contract/failure.ts';
import { isSpending, publishes } from '../plan/actions.ts';
import { tellsAllPosts, tellsAllPrices } from '../plan/agreement.ts';
import type { Plan } from '../plan/plan.ts';
import { admitPosts, allowPosts, withholdPosts } from '../plan/post-consent.ts';
import { isAskedAbout } from '../plan/post-record.ts';
import { ceilingOf } from '../plan/prices.ts';
import { countOf } from '../report/numbers.ts';
import type { ApplyOptions } from './apply-options.ts';
import { askAboutPosts, askToPublish, askToSpend } from './ask.ts';
import type { Terminal } from './terminal.ts';

interface Context {
  terminal: Terminal;
  saved?: SavedPlan;
  /** Told what there is to agree to. */
  show(plan: Plan): void;
}

/**
 * Credits and posts are agreed to apart. What comes back is carried out: the plan with its posts, or without those that
 * nobody agreed to.
 */
export async function agreeTo(
  made: Plan,
  options: ApplyOptions,
  context: Context,
): Promise<Plan | 'no' | 'interrupted'> {
  const { terminal } = context;
  const consent = consentToPosts(made, options, context);
  const plan = consent === 'missing' ? withholdPosts(made) : made;
  context.show(plan);
  const spends = await agreeToSpend(plan, options, context);
  if (spends !== 'yes') return spends;
  return agreeToPosts(asksAgain(plan, options, terminal), consent, { options, context });
}

/** Whether a run in which charges pass what was agreed to is followed by another question. */
export function canAskAgain({ yes, json, events }: ApplyOptions, { interactive }: Terminal): boolean {
  return interactive && yes !== true && json !== true && events === undefined;
}

/** A price that nobody could estimate, and no cap bounds, is agreed to once it is known. */
function asksAgain(plan: Plan, options: ApplyOptions, terminal: Terminal): Plan {
  const { totals } = plan;
  const { estimate, budget, maxCredits } = totals;
  const isBounded = budget !== undefined || maxCredits !== undefined;
  if (isBounded || (estimate?.unpriced ?? 0) === 0 || !canAskAgain(options, terminal)) return plan;
  return { ...plan, totals: { ...totals, asksAgain: true } };
}

async function agreeToPosts(
  plan: Plan,
  consent: ReturnType<typeof consentToPosts>,
  { options, context }: { options: ApplyOptions; context: Context },
): Promise<Plan | 'interrupted'> {
  const { terminal, saved } = context;
  // What a saved plan does was settled when it was made.
  const asksPairs = saved === undefined && mayAsk(options, context) && plan.rows.some(isAskedAbout);
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

/** No budget and no `--yes` covers a post: it takes `--publish`, a saved plan that names it, or a person here. */
function consentToPosts(plan: Plan, options: ApplyOptions, context: Context): 'given' | 'asked' | 'missing' {
  if (!plan.rows.some(publishes) || options.publish === true) return 'given';
  if (context.saved !== undefined && tellsAllPosts(context.saved, plan)) return 'given';
  return mayAsk(options, context) ? 'asked' : 'missing'; // I24
}

/**
 * Nothing is spent that nobody agreed to: a person here, `--yes`, a saved plan that says what everything costs, or a budget
 * that covers the whole plan.
 */
async function agreeToSpend(
  plan: Plan,
  options: ApplyOptions,
  { terminal, saved }: Context,
): Promise<'yes' | 'no' | 'interrupted'> {
  const { unknownPrices, budgetLeft, maxCredits } = plan.totals;
  // A post that costs nothing is agreed to as a post.
  const bought = plan.rows.filter((row) => isSpending(row.action) && !(publishes(row) && row.credits === 0));
  const followers = options.review === true ? plan.rows.filter(({ later }) => later !== undefined) : [];
  if (options.yes || bought.length + followers.length === 0) return 'yes';
  const isPriced = followers.every(({ wouldCost }) => typeof wouldCost === 'number');
  if (saved !== undefined && tellsAllPrices(saved, plan) && isPriced) return 'yes';
  if (terminal.interactive) {
    return askToSpend(plan.totals, { terminal, free: bought.length, withPicks: followers.length > 0 });
  }
  const cap = Math.min(budgetLeft ?? Number.POSITIVE_INFINITY, maxCredits ?? Number.POSITIVE_INFINITY);
  const mostAfterPicks = followers.reduce((sum, { wouldCost }) => sum + (wouldCost ?? Number.POSITIVE_INFINITY), 0);
  if (mostOf(plan) + mostAfterPicks <= cap && cap !== Number.POSITIVE_INFINITY) return 'yes';
  const why = unknownPrices > 0 || !isPriced ? whyUncertain(plan) : 'there is no budget that covers the plan';
  throw new CampaignError({
    code: 'MB3004',
    message: `there is no terminal to ask on, and ${why}`,
    hint:
      unknownPrices > 0 || !isPriced
        ? 'agree with --yes; the budget and --max-credits still hold'
        : 'agree with --yes (the budget and --max-credits still hold), or set a budget that covers the plan',
  });
}

/** The most that a plan may cost; infinite where nobody vouches for a price. */
function mostOf({ rows }: Plan): number {
  const spending = rows.filter(({ action }) => isSpending(action));
  return spending.reduce(
    (sum, { credits, price }) =>
      sum + (credits ?? (price === undefined ? undefined : ceilingOf(price)) ?? Number.POSITIVE_INFINITY),
    0,
  );
}

function whyUncertain({ totals: { unknownPrices, estimate } }: Plan): string {
  if (unknownPrices === 0) return 'the price of what follows the picks is not known yet';
  const unpriced = estimate?.unpriced ?? unknownPrices;
  return unpriced > 0
    ? `the price of ${countOf(unpriced, 'step')} is not known yet`
    : `nobody vouches for the price of ${countOf(unknownPrices, 'step')}: likely ${countOf(estimate?.likely ?? 0, 'credit')} in all`;
}
