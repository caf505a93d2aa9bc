import type { Failure } from '../../contract/failure.ts';
import type { Json } from '../../ground/json.ts';
import { defined, groupBy } from '../../ground/values.ts';
import type { ComparedStep, Comparison } from '../../plan/compare/compare-versions.ts';
import type { PlanRow } from '../../plan/plan.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import type { Charge } from '../../plan/prices/charges.ts';
import type { Paste } from '../advice-text.ts';
import { failureText } from '../diagnostics/diagnostics-text.ts';
import {
  type Block,
  type Document,
  type Fact,
  facts,
  heading,
  jsonOf,
  named,
  paragraph,
  strong,
  type Text,
} from '../document.ts';
import { type Cost, costCell, costText, countOf, countWords, creditsText, priceText } from '../numbers.ts';
import { markdownText } from '../render/markdown-text.ts';
import { terminalText } from '../render/terminal-text.ts';
import { makeStyle, type Style } from '../style.ts';
import { budgetLeftText, type Fit } from './plan-facts.ts';
import { groupPlan } from './plan-items.ts';
import { itemTable } from './plan-text.ts';

interface CompareView extends Comparison {
  campaign: string;
  ref: string;
  commit: string;
  /** Whether the remaining budget covers the remaining purchases. Omitted if there is no budget or nothing to buy. */
  fit?: Fit & { left: number };
}

const changeWords = { added: 'new', changed: 'changed', moved: 'moved', removed: 'removed' } as const;

function compareDocument(view: CompareView, { all = false }: { all?: boolean } = {}): Document {
  const { campaign, ref, commit, steps, toBuy, fit } = view;
  const rows = steps.map(rowOfStep);
  const byAddress = new Map(steps.map((step) => [step.address, step]));
  const creditsOf = (own: readonly PlanRow[]) =>
    costCell(costOf(own.flatMap(({ address }) => byAddress.get(address) ?? [])));
  const missing = fit?.missing ? `, ${creditsText(fit.missing)} more than the budget has left` : '';
  const isWhole = toBuy.credits === 0 && toBuy.unknownPrices === 0;
  return [
    heading([named(campaign), isWhole ? '' : `: ${sumText(toBuy)} to buy${missing}`]),
    paragraph(['compared with ', named(ref), ` (${commit.slice(0, 10)})`]),
    itemTable(groupPlan({ rows }, { all }), { rows }, { title: 'price', creditsOf }),
    paragraph(strong(countsText(view))),
    ...[...groupBy(steps, ({ task }) => task)].flatMap(([task, own]): Block[] => {
      if (own.length === 1) return [];
      const title = [named(task), `: ${countOf(own.length, 'step')}`];
      return [{ is: 'folded', title, lines: own.map(lineOf) }];
    }),
    facts(moneyFacts(view)),
  ];
}

export function compareText(view: CompareView, options: { style: Style; width: number; all?: boolean }): string {
  return terminalText(compareDocument(view, options), options);
}

export function compareMarkdown(view: CompareView, { path }: { path: string }): string {
  return markdownText(compareDocument(view), { marker: commentMarker(path) });
}

/**
 * Returns the first line of a pull request comment, by which a later CI run finds the comment. The line contains the
 * path of the manifest, because two campaigns may have the same name. An escaped path cannot end the HTML comment.
 */
export function commentMarker(path: string): string {
  const percent = (found: string) => Buffer.from(found).toString('hex').replace(/../g, '%$&');
  const inert = path.replace(/[^A-Za-z0-9_./-]+/g, percent).replaceAll('--', '-%2d');
  return `<!-- mediabatch:${inert} -->`;
}

export function isSame({ steps, there, here, bought, boughtThere }: Comparison): boolean {
  return steps.length + bought.length + boughtThere.length === 0 && there.budget === here.budget;
}

function rowOfStep({ change, address, task, kind, text, changes, follows, discards }: ComparedStep): PlanRow {
  const row = { address, task, kind, credits: 0 as const, ...defined({ discards }) };
  switch (change) {
    case 'added':
      // The text of `not-bought` is about purchases, but a comparison is about new steps of the manifest.
      return { ...row, action: 'create', reason: { code: 'orphan', text } };
    case 'removed':
      return { ...row, action: 'orphan', reason: { code: 'orphan', text } };
    case 'moved':
      return { ...row, action: 'move', reason: { code: 'renamed', text } };
    case 'changed': {
      const details = defined({ changes, follows });
      return { ...row, action: 'redo', reason: { code: 'changed', text, ...details } };
    }
    default:
      return change satisfies never;
  }
}

function costOf(steps: readonly ComparedStep[]): Cost {
  const prices = steps.flatMap(({ change, credits: { here } }) =>
    change === 'moved' || here === undefined ? [] : [here],
  );
  const credits = prices.reduce<number>((sum, price) => sum + (price ?? 0), 0);
  return { credits, unpriced: prices.filter((price) => price === null).length };
}

function countsText({ steps }: CompareView): string {
  const counts = Object.entries(changeWords).map(
    ([change, word]) => [steps.filter((step) => step.change === change).length, word] as const,
  );
  return steps.length === 0 ? 'No step differs.' : countWords(counts).join(' · ');
}

function lineOf({ change, address, text, credits, discards = 0 }: ComparedStep): Text {
  const { here = 0 } = credits;
  const price = here === 0 || change === 'moved' ? [] : [priceText({ credits: here })];
  const words = [
    ...(change === 'removed' ? ['removed'] : price),
    ...(discards > 0 ? [`gives up ${creditsText(discards)}`] : []),
  ];
  const isDetailed = change !== 'added' && change !== 'removed';
  const all = [named(address), ...words.map((word) => `, ${word}`)];
  return isDetailed ? [...all, ': ', named(text)] : all;
}

function moneyFacts(view: CompareView): Fact[] {
  const { there, here, toBuy, bought, boughtThere, discarded, fit } = view;
  const difference = here.credits - there.credits;
  const sign = difference > 0 ? '+' : '';
  const change = difference === 0 ? '' : ` (${sign}${creditsText(difference)})`;
  const facts: Fact[] = [{ label: 'costs', text: changedText(wholeText(there), wholeText(here)) + change }];
  const add = (label: string, text: string) => facts.push({ label, text });
  if (there.budget !== here.budget) add('budget', changedText(budgetText(there), budgetText(here)));
  if (toBuy.credits > 0 || toBuy.unknownPrices > 0) add('still to buy', sumText(toBuy));
  if (toBuy.unknownPrices > 0) add('prices', unknownPriceHint);
  if (fit !== undefined) add('budget left', budgetLeftText(fit, fit.left));
  if (bought.length > 0) add('bought', `${chargesText(bought)}, on record now, but not in the compared version`);
  if (boughtThere.length > 0)
    add('not here', `${chargesText(boughtThere)}, on record in the compared version, but not now`);
  if (discarded > 0) add('gives up', `${countOf(discarded, 'credit')} of paid work`);
  return facts;
}

const unknownPriceHint = 'unknown until the first purchase; to set prices, add `prices:` to the manifest (help cost)';

function changedText(there: string, here: string): string {
  return there === here ? `${here}, as before` : `${there} before, ${here} now`;
}

function wholeText(sum: Comparison['here']): string {
  const steps = countOf(sum.steps, 'step');
  return sum.unknownPrices === sum.steps && sum.credits === 0 ? sumText(sum) : `${steps} for ${sumText(sum)}`;
}

function budgetText({ budget }: { budget?: number }): string {
  return budget === undefined ? 'none' : creditsText(budget);
}

function sumText({ credits, unknownPrices }: Comparison['toBuy']): string {
  return costText({ credits, unpriced: unknownPrices });
}

function chargesText(charges: readonly Charge[]): string {
  const held = charges.filter(({ went }) => went === 'held').length;
  const posts = charges.filter(({ went, kind }) => went !== 'held' && isPost(kind)).length;
  const jobs = charges.length - held - posts;
  const credits = charges.reduce((sum, charge) => sum + (charge.went === 'held' ? 0 : (charge.credits ?? 0)), 0);
  return [
    ...(jobs > 0 ? [`${countOf(jobs, 'job')} for ${countOf(credits, 'credit')}`] : []),
    ...(posts > 0 ? [countOf(posts, 'post')] : []),
    ...(held > 0 ? [`${countOf(held, 'create request')} with unknown charge`] : []),
  ].join(', ');
}

export function compareJson(view: CompareView): Json {
  const { campaign, ref, commit, steps, there, here, toBuy, bought, boughtThere, discarded, fit } = view;
  const difference = here.credits - there.credits;
  return jsonOf('comparison', {
    ...{ campaign, ref, commit, steps, there, here, difference, toBuy, ...defined({ fit }) },
    ...{ bought: bought.map(chargeJson), boughtThere: boughtThere.map(chargeJson), discarded },
  });
}

function chargeJson({ id, address, task, kind, model, went, credits }: Charge): Json {
  return { id, address, task, kind, model, went, credits };
}

const mostMistakes = 50;

export function failureMarkdown(failure: Failure, { path, paste }: { path: string; paste: Paste }): string {
  const errors = 'diagnostics' in failure ? (failure.diagnostics ?? []).filter((one) => one.severity === 'error') : [];
  const what = errors.length > 0 ? countOf(errors.length, 'mistake') : 'there is no plan';
  const text = failureText(failure, { style: makeStyle(false), paste, most: mostMistakes }).trimEnd();
  const document = [heading([named(path), `: ${what}`]), { is: 'code', language: 'text', text } as const];
  return markdownText(document, { marker: commentMarker(path) });
}
