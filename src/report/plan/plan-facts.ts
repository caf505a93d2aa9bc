import { groupBy } from '../../ground/values.ts';
import { postsOf } from '../../plan/consent.ts';
import type { Plan, PlanRow, PlanTotals, PostTarget } from '../../plan/plan.ts';
import { isAskedAbout } from '../../plan/posts/post-record.ts';
import { limitName } from '../../plan/prices/fund.ts';
import { guessText } from '../../plan/prices/prices.ts';
import { sumLater } from '../../plan/sum-up.ts';
import { type Block, bad, type Fact, facts, named, strong, type Text, warning } from '../document.ts';
import { type Cost, costText, countOf, creditsText, limitText, rangeText } from '../numbers.ts';
import { safeText, shortList } from '../safe-text.ts';

const quietLabels: readonly string[] = ['already paid', 'reserved', 'budget', 'balance'];

export function moneyFacts(totals: PlanTotals, { isQuiet = false } = {}): Fact[] {
  const { mayRetry, afterPicks, ceiling, knownPrices, held, discarded, budget, maxCredits, limit, balance } = totals;
  const missing = missingInAccount(totals);
  const texts: { readonly [label: string]: Text | false | undefined } = {
    'to spend': strong(toSpendText(totals)),
    retries:
      mayRetry !== undefined &&
      (mayRetry > 0 ? `up to ${countOf(mayRetry, 'credit')} more if jobs fail` : 'of unknown price'),
    approved:
      ceiling < knownPrices && bad(`${countOf(ceiling, 'credit')} left: steps beyond this total are not bought`),
    'after picks':
      afterPicks &&
      `${pickedText(afterPicks)}, for ${countOf(afterPicks.steps, 'step')} that ${afterPicks.steps === 1 ? 'waits' : 'wait'}`,
    'already paid': creditsText(totals.alreadyPaid),
    reserved: held > 0 && heldText(totals),
    discarded: discarded > 0 && `${creditsText(discarded)} of paid work that will be replaced`,
    budget: budget !== undefined && budgetText(totals, budget),
    'this run': maxCredits !== undefined && `at most ${countOf(maxCredits, 'credit')}`,
    limit: limit && (limit.left < knownPrices ? bad(limitText(limit)) : limitText(limit)),
    balance: balance !== undefined && creditsText(balance),
    account: missing !== undefined && bad(missing),
  };
  return Object.entries(texts).flatMap(([label, text]) =>
    text === undefined || text === false || (isQuiet && !quietLabels.includes(label)) ? [] : [{ label, text }],
  );
}

function toSpendText(totals: PlanTotals): string {
  if (totals.unknownPrices === 0) return spendText(totals);
  const { list = 0, 'other-lock': charged = 0 } = totals.estimate?.sources ?? {};
  const notes = [
    ...(charged > 0 ? [`${countOf(charged, 'step')} by charges of another campaign`] : []),
    ...(list > 0 ? [`${countOf(list, 'step')} by list price`] : []),
    'one step of each price runs first; its charge sets the price of the other steps',
  ];
  return `${spendText(totals)} (${notes.join('; ')})`;
}

function missingInAccount({ lastBalance, estimate, knownPrices }: PlanTotals): string | undefined {
  if (lastBalance === undefined) return undefined;
  const { credits, at } = lastBalance;
  const missing = Math.ceil(Math.max(knownPrices, estimate?.likely ?? 0) - credits);
  if (missing <= 0) return undefined;
  return `likely ${countOf(missing, 'credit')} too few in the account, which had ${creditsText(credits)} at ${safeText(at.slice(0, 16).replace('T', ' '))} UTC`;
}

function heldText({ held, guessed = [], heldUnpriced = 0 }: PlanTotals): string {
  const text = `${creditsText(held)} for create requests with unknown charge (\`status --list\` shows the requests, \`resolve\` records the charge)`;
  if (guessed.length === 0) return text;
  return `${text}; ${safeText(guessText(guessed, heldUnpriced))}`;
}

export function pickedText(after: NonNullable<PlanTotals['afterPicks']>): string {
  const { unknownPrices, likely, unpriced, mayRetry } = after;
  const isLikely = unknownPrices > 0;
  const cost = `${isLikely ? '' : 'at most '}${costText({ credits: likely, unpriced, isLikely })}`;
  if (mayRetry === undefined) return cost;
  return `${cost} + ${mayRetry > 0 ? `up to ${mayRetry} if jobs fail` : 'retries of unknown price'}`;
}

type Prices = Pick<PlanTotals, 'knownPrices' | 'unknownPrices' | 'estimate' | 'ceiling'>;

/** Returns the cost of a plan. If the cost is an estimate, `most` is the approved total. */
export function costOf({ knownPrices, unknownPrices, estimate, ceiling }: Prices): Cost {
  const { likely = knownPrices, unpriced = unknownPrices } = estimate ?? {};
  // If the service has charged different amounts for one price class, its known price is the highest amount.
  const isLikely = unknownPrices > unpriced || likely < knownPrices;
  return { credits: likely, unpriced, isLikely, ...(isLikely && { most: ceiling }) };
}

export function spendText(totals: Prices): string {
  return costText(costOf(totals));
}

/** Returns a text such as `, within the remaining budget of 40`. Empty if only the approved total limits costs. */
export function capText({
  unknownPrices,
  toSpend,
  ceiling,
  budgetLeft,
}: Pick<PlanTotals, 'unknownPrices' | 'toSpend' | 'ceiling' | 'budgetLeft'>): string {
  if (unknownPrices === 0 || budgetLeft === undefined || (toSpend !== null && ceiling <= budgetLeft)) return '';
  return `, within the remaining budget of ${creditsText(budgetLeft)}`;
}

function budgetText(totals: PlanTotals, budget: number): Text {
  const { budgetLeft: before, knownPrices, unknownPrices } = totals;
  const now = `${creditsText(budget)}, ${creditsText(before ?? budget)} left`;
  if (before === undefined || (knownPrices === 0 && unknownPrices === 0)) return now;
  const { credits, unpriced, isLikely } = costOf(totals);
  const after = before - credits;
  if (after < 0) return bad(`${now}: ${isLikely ? 'likely ' : ''}${creditsText(-after)} too few for this plan`);
  const word = unpriced > 0 ? 'at most ' : isLikely ? 'likely ' : '';
  return `${now} now, ${word}${creditsText(after)} after this plan`;
}

const limitCodes: ReadonlySet<string> = new Set(['budget', 'run-limit', 'limit']);

export function limitFacts({ rows, totals }: Pick<Plan, 'rows' | 'totals'>): Fact[] {
  const limited = rows.filter(({ reason }) => limitCodes.has(reason.code));
  const now = [...groupBy(limited, ({ reason }) => reason.code)].map(([code, own]): Fact => {
    const { likely, unpriced, unknownPrices } = sumLater(own);
    const cost = costText({ credits: likely, unpriced, isLikely: unknownPrices > unpriced });
    const kept = code === 'budget' ? totals.fit?.kept : undefined;
    const reserved =
      kept === undefined ? '' : `; ${countOf(kept, 'credit')} of the budget reserved for steps that wait for a pick`;
    const name = code === 'limit' ? limitName(totals.limit) : code === 'budget' ? 'the budget' : '--max-credits';
    return {
      label: 'blocked',
      text: warning(`${name} is not enough for ${countOf(own.length, 'step')} (${cost})${reserved}`),
    };
  });
  const after = totals.fit && afterPicksText(totals.fit);
  return after === undefined ? now : [...now, { label: 'short', text: warning(after) }];
}

export function modelFacts({ models = [] }: Plan): Fact[] {
  return models.map(({ text, addresses }) => {
    const steps = `${countOf(addresses.length, 'step')}: ${shortList(addresses, 3)}`;
    return { label: 'models', text: warning(`${safeText(text, 300)} (${steps})`) };
  });
}

export function postFacts({ rows }: Plan, now?: number): Fact[] {
  const published = postsOf(rows, 'published');
  const waiting = postsOf(rows, 'waiting');
  const asked = rows.filter(isAskedAbout);
  const texts: [label: Text, text: string | false][] = [
    [strong('publishes'), published.length > 0 && postsText(published, now)],
    ['waiting', waiting.length > 0 && `${postsText(waiting, now)}, for separate consent`],
    ['asks', asked.length > 0 && askedText(asked)],
    [
      'posted',
      rows.some(({ changedSince }) => changedSince === true) &&
        'published posts are not changed. To reschedule a post, delete it at the service, then --redo its exact address',
    ],
  ];
  return texts.flatMap(([label, text]) => (text === false ? [] : [{ label, text: named(text) }]));
}

function askedText(asked: readonly PlanRow[]): string {
  const [{ address, beside } = { address: '' }] = asked;
  const others = asked.length === 1 ? '' : ` (and ${asked.length - 1} similar)`;
  return `is ${safeText(address, 200)} the published post ${safeText(beside?.address ?? '', 200)}${others}? A user must decide; --publish does not decide this`;
}

export function timeFacts({ expected, untimed = [] }: PlanTotals): Fact[] {
  if (expected !== undefined) return [{ label: 'time', text: `about ${rangeText(expected)}` }];
  if (untimed.length === 0) return [];
  const have = untimed.length === 1 ? 'has' : 'have';
  return [{ label: 'time', text: `unknown: ${shortList(untimed, 3)} ${have} no recorded duration` }];
}

export type Fit = NonNullable<PlanTotals['fit']>;

function afterPicksText({ afterPicks = [], missing }: Fit): string | undefined {
  const short = afterPicks.filter(({ steps, carried }) => carried < steps);
  if (short.length === 0) return undefined;
  const parts = short.map(
    ({ task, steps, carried }) => `${carried} of ${countOf(steps, 'step')} of ${safeText(task, 80)}`,
  );
  return `after the picks ${countOf(missing, 'credit')} ${missing === 1 ? 'is' : 'are'} missing: the budget covers ${parts.join(', ')}`;
}

export function budgetLeftText(fit: Fit, left: number): string {
  const missing = `${countOf(fit.missing, 'credit')} too few`;
  switch (fit.carries) {
    case 'all':
      return `${creditsText(left)}, enough for the remaining purchases`;
    case 'unknown':
      return `${creditsText(left)}, enough for the steps with a price; the price of the other steps is unknown`;
    case 'now':
      return `${creditsText(left)}; ${afterPicksText(fit)}`;
    case 'part':
      return `${creditsText(left)}, ${missing} for the remaining purchases`;
    default:
      return fit.carries satisfies never;
  }
}

const shownAccounts = 8;

/**
 * Returns a text such as `3 posts to Instagram @lamps, at once`. `now`: ms since 1970; if given, the text also counts
 * posts scheduled for an earlier time.
 */
export function postsText(targets: readonly PostTarget[], now?: number): string {
  const names = new Map(targets.flatMap(({ names = {} }) => Object.entries(names)));
  const most = targets.some(({ perhaps }) => perhaps === true) ? 'up to ' : '';
  return `${most}${countOf(targets.length, 'post')} to ${accountsText(targets, names)}, ${timesText(targets)}${now === undefined ? '' : overdueText(targets, now)}`;
}

function overdueText(targets: readonly PostTarget[], now: number): string {
  const overdue = targets.filter(({ at }) => Date.parse(at ?? '') < now).length;
  return overdue === 0 ? '' : `; ${creditsText(overdue)} overdue, published at once`;
}

export function sideBySide({ address, beside }: Pick<PlanRow, 'address' | 'beside'>): Block {
  const { address: old = '', jobId, before, after } = beside ?? {};
  const quoted = (words?: string) => (words === undefined ? '(its text is unknown)' : `“${safeText(words, 300)}”`);
  const job = jobId === undefined ? '' : ` (${safeText(jobId, 80)})`;
  return facts([
    { label: 'published', text: `${safeText(old, 80)}: ${quoted(before)}${job}` },
    { label: 'new', text: `${safeText(address, 80)}: ${quoted(after)}` },
  ]);
}

function accountsText(targets: readonly PostTarget[], names: ReadonlyMap<string, string>): string {
  const accounts = [...new Set(targets.flatMap((target) => target.accounts))].map(
    (id) => names.get(id) ?? `account ${id}`,
  );
  const isUnnamed = targets.some((target) => target.accounts.length === 0);
  return shortList([...accounts, ...(isUnnamed ? ['accounts that the request does not name'] : [])], shownAccounts);
}

function timesText(targets: readonly PostTarget[]): string {
  const times = targets.flatMap(({ at }) => at ?? []).sort(compareTimes);
  const now = targets.length - times.length;
  const [first = '', last = ''] = [times[0], times.at(-1)];
  if (times.length === 0) return 'at once';
  const span = `${first === last ? 'at' : `from ${safeText(first, 40)} to`} ${safeText(last, 40)}`;
  return now === 0 ? span : `${now} at once, ${times.length} ${span}`;
}

function compareTimes(a: string, b: string): number {
  return Date.parse(a) - Date.parse(b) || (a < b ? -1 : 1);
}
