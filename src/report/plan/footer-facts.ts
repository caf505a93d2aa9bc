import { groupBy } from '../../ground/values.ts';
import type { Plan, PlanRow, PlanTotals } from '../../plan/plan.ts';
import { postsOf } from '../../plan/posts/post-consent.ts';
import { isAskedAbout } from '../../plan/posts/post-record.ts';
import { limitName } from '../../plan/prices/caps.ts';
import { type Fact, named, strong, type Text, warning } from '../document.ts';
import { countOf, creditsText, rangeText } from '../numbers.ts';
import { safeText, shortList } from '../safe-text.ts';
import { postsText } from './post-words.ts';

export const limitCodes: ReadonlySet<string> = new Set(['budget', 'run-limit', 'limit']);

function limitNameOf(code: string, { limit }: PlanTotals): string {
  if (code === 'limit') return limitName(limit);
  return code === 'budget' ? 'the budget' : '--max-credits';
}

export function limitFacts({ rows, totals }: Pick<Plan, 'rows' | 'totals'>): Fact[] {
  const limited = rows.filter(({ reason }) => limitCodes.has(reason.code));
  const now = [...groupBy(limited, ({ reason }) => reason.code)].map(([code, own]) => {
    const unsure = own.filter(({ wouldCost }) => wouldCost === null);
    const expected = unsure.flatMap(({ price }) => price?.likely ?? []);
    const credits = [...own.map(({ wouldCost }) => wouldCost ?? 0), ...expected].reduce((sum, one) => sum + one, 0);
    const unknown = unsure.length - expected.length;
    const cost = [
      ...(credits > 0 ? [`cost ${expected.length > 0 ? '≈ ' : ''}${countOf(credits, 'credit')}`] : []),
      ...(unknown > 0 ? [`${creditsText(unknown)} of unknown price`] : []),
    ].join(', ');
    const text = `${limitNameOf(code, totals)} is not enough for ${countOf(own.length, 'step')}${cost === '' ? '' : ` (${cost})`}${code === 'budget' ? keptText(totals.fit) : ''}`;
    return { label: 'blocked', text: warning(text) };
  });
  const after = totals.fit && afterPicksText(totals.fit);
  return after === undefined ? now : [...now, { label: 'short', text: warning(after) }];
}

const shownSteps = 3;

export function modelFacts({ models = [] }: Plan): Fact[] {
  return models.map(({ text, addresses }) => {
    const steps = `${countOf(addresses.length, 'step')}: ${shortList(addresses, shownSteps)}`;
    return { label: 'models', text: warning(`${safeText(text, 300)} (${steps})`) };
  });
}

function keptText(fit: Fit | undefined): string {
  return fit?.kept === undefined
    ? ''
    : `; ${countOf(fit.kept, 'credit')} of the budget ${fit.kept === 1 ? 'is' : 'are'} reserved for steps that wait for a pick`;
}

/** Lists posts apart from purchases, because credits do not cover them and publishing cannot be undone. */
export function postFacts({ rows }: Plan, now?: number): Fact[] {
  const facts: Fact[] = [];
  const add = (label: Text, text: string) => facts.push({ label, text: named(text) });
  const published = postsOf(rows, 'published');
  const waiting = postsOf(rows, 'waiting');
  const asked = rows.filter(isAskedAbout);
  const isChanged = rows.some(({ changedSince }) => changedSince === true);
  if (published.length > 0) add(strong('publishes'), postsText(published, now));
  if (waiting.length > 0) add('waiting', `${postsText(waiting, now)}, for separate consent`);
  if (asked.length > 0) add('asks', askedText(asked));
  if (isChanged)
    add(
      'posted',
      'published posts stay as they are. To reschedule a post, delete it at the service, then --redo its exact address',
    );
  return facts;
}

/** Asks about the first post that may be published already under another name. Each has its own question. */
function askedText(asked: readonly PlanRow[]): string {
  const [{ address, beside } = { address: '' }] = asked;
  const others = asked.length === 1 ? '' : ` (and ${asked.length - 1} more like it)`;
  return `is ${safeText(address, 200)} the published post ${safeText(beside?.address ?? '', 200)}${others}? A user decides; --publish does not cover it`;
}

const shownUntimed = 3;

export function timeFacts({ expected, untimed }: PlanTotals): Fact[] {
  const time = (text: string) => [{ label: 'time', text }];
  if (expected !== undefined) return time(`about ${rangeText(expected)}`);
  if (untimed === undefined) return [];
  const [only] = untimed;
  if (untimed.length === 1) return time(`unknown: no ${only} was timed yet`);
  const names = untimed.slice(0, shownUntimed);
  const last = untimed.length > shownUntimed ? `${untimed.length - shownUntimed} more` : names.pop();
  return time(`unknown: ${names.join(', ')} and ${last} were never timed`);
}

export type Fit = NonNullable<PlanTotals['fit']>;

function afterPicksText({ afterPicks = [], missing }: Fit): string | undefined {
  const short = afterPicks.filter(({ steps, carried }) => carried < steps);
  if (short.length === 0) return undefined;
  const none = short.filter(({ carried }) => carried === 0).map(({ task }) => nameOf(task));
  const parts = [
    ...short.flatMap(({ task, steps, carried }) =>
      carried === 0 ? [] : [`${creditsText(carried)} of ${countOf(steps, 'step')} of ${nameOf(task)}`],
    ),
    ...(none.length > 0 ? [`no step of ${none.join(' or ')}`] : []),
  ];
  const lack = `${countOf(missing, 'credit')} ${missing === 1 ? 'is' : 'are'} missing`;
  return `after the picks ${lack}: the budget covers ${parts.join(', ')}`;
}

function nameOf(task: string): string {
  return safeText(task, 80);
}

export function budgetLeftText(fit: Fit, left: number): string {
  const missing = `${countOf(fit.missing, 'credit')} too few`;
  switch (fit.carries) {
    case 'all':
      return `${creditsText(left)}, enough for the remaining purchases`;
    case 'unknown':
      return `${creditsText(left)}, enough for the steps with a price; the price of the rest is unknown`;
    case 'now':
      return `${creditsText(left)}; ${afterPicksText(fit)}`;
    case 'part':
      return `${creditsText(left)}, ${missing} for the remaining purchases`;
    default:
      return fit.carries satisfies never;
  }
}
