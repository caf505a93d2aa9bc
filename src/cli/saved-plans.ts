import { readdir } from 'node:fs/promises';
import { keepYes } from '../campaign/approvals.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { planSaved } from '../campaign/plan.ts';
import type { SavedPlan } from '../campaign/saved-plan.ts';
import { systemClock } from '../contract/clock.ts';
import { call } from '../ground/advice.ts';
import type { Plan } from '../plan/plan.ts';
import { postsOf } from '../plan/posts/post-consent.ts';
import { isBought } from '../plan/prices/spend-consent.ts';
import { clockText, countOf } from '../report/numbers.ts';
import { pickedText, spendText } from '../report/plan/plan-money.ts';
import { planText } from '../report/plan/plan-text.ts';
import { postsText } from '../report/plan/post-words.ts';
import { safeText } from '../report/safe-text.ts';
import type { Terminal } from './terminal.ts';

/** Limit of plans, because each one is opened, or planned again to be shown. */
const mostPlans = 10;

/** File names of saved plans in a folder, by their extension, like `campaign.plan.json`. */
export async function savedPlansIn(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith('.plan.json'))
    .sort()
    .slice(0, mostPlans);
}

/** Stores the approval of a plan that the user has seen. Returns a description of what is approved. Times in ms. */
export async function sayYes(
  saved: SavedPlan,
  said: { campaign: OpenCampaign; what: string; by: string; until: number },
  terminal: Pick<Terminal, 'paste'>,
): Promise<string> {
  await keepYes(saved, { ...said, at: systemClock.now() });
  const apply = terminal.paste({ ...call('apply'), file: saved.path, bare: true });
  return `by ${safeText(said.by, 100)} until ${clockText(said.until)}; to do it: ${apply}`;
}

/**
 * Makes a saved plan again, to show it before it is approved. Throws MB3102 if it is stale. `what`: everything that
 * an approval covers; undefined when nothing is bought or published.
 */
export async function showPlan(
  saved: SavedPlan,
  campaign: OpenCampaign,
  { style, width }: Pick<Terminal, 'style' | 'width'>,
): Promise<{ plan: Plan; text: string; what: string | undefined }> {
  const plan = await planSaved(saved, campaign);
  const now = systemClock.now();
  return {
    plan,
    text: planText(plan, { style, width, all: false, isRehearsal: campaign.sandbox, now }),
    what: subjectOf(plan, now),
  };
}

/**
 * Everything that an approval of a plan covers, like `12 credits, and 1 post to …`. Undefined if nothing is bought or
 * published.
 */
function subjectOf(plan: Plan, now: number): string | undefined {
  const { totals, rows } = plan;
  const { knownPrices, unknownPrices, estimate, mayRetry = 0, afterPicks } = totals;
  const posts = postsOf(rows, 'published');
  const bought = rows.filter(isBought).length;
  const isFree = knownPrices === 0 && unknownPrices === 0 && (estimate?.likely ?? 0) === 0;
  const parts = [
    ...(bought === 0 ? [] : [isFree ? `${countOf(bought, 'step')} for 0 credits` : spendText(totals)]),
    ...(mayRetry === 0 ? [] : [`up to ${countOf(mayRetry, 'credit')} more for retries`]),
    ...(afterPicks === undefined ? [] : [`${pickedText(afterPicks)} after the picks`]),
    ...(posts.length === 0 ? [] : [postsText(posts, now)]),
  ];
  return parts.length === 0 ? undefined : parts.join(', and ');
}
