import type { Json } from '../../ground/json.ts';
import { defined } from '../../ground/values.ts';
import type { ComparedStep, Comparison, PriceSum } from '../../plan/compare/compare-versions.ts';
import type { PlanRow } from '../../plan/plan.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import type { Charge } from '../../plan/prices/list-charges.ts';
import { facts, heading, paragraph } from '../document.ts';
import { countOf, creditsText, signedText } from '../numbers.ts';
import { terminalText } from '../render/terminal-text.ts';
import type { Style } from '../style.ts';
import { budgetLeftText, type Fit } from './footer-facts.ts';
import { indexRows } from './item-text.ts';
import { groupPlan } from './plan-items.ts';
import { itemTable } from './plan-text.ts';

/** A comparison with a commit, with the commit's name as the user typed it. */
export interface CompareView extends Comparison {
  campaign: string;
  ref: string;
  commit: string;
  /** Remaining budget, and whether it covers the remaining purchases. Omitted without a budget or purchases. */
  fit?: Fit & { left: number };
}

export const changeWords = { added: 'new', removed: 'removed', changed: 'changed', moved: 'moved' } as const;

export function compareText(view: CompareView, options: { style: Style; width: number; all?: boolean }): string {
  const rows = view.steps.map(rowOfStep);
  const items = groupPlan({ rows }, { all: options.all === true });
  return terminalText(
    [
      heading(`${view.campaign} as it is here, against ${view.ref} (${view.commit.slice(0, 10)})`),
      itemTable(items, indexRows({ rows }), differenceFinder(view).creditsOf),
      paragraph(countsText(view)),
      facts(moneyFacts(view)),
    ],
    options,
  );
}

export function differenceFinder({ steps }: Pick<CompareView, 'steps'>) {
  const byAddress = new Map(steps.map((step) => [step.address, step]));
  const differencesOf = (rows: readonly PlanRow[]) => rows.flatMap(({ address }) => byAddress.get(address) ?? []);
  return { differencesOf, creditsOf: (rows: readonly PlanRow[]) => differenceText(differencesOf(rows)) };
}

/** Converts a difference to a row of a plan, so that it is grouped and worded like one. */
export function rowOfStep({ change, address, task, kind, text, changes, follows, discards }: ComparedStep): PlanRow {
  const row = { address, task, kind, credits: 0 as const, ...defined({ discards }) };
  switch (change) {
    case 'added':
      // Not `not-bought`, whose words are about purchases, because here the step itself is new.
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

/** Returns a text such as `+24`, `-6`, or `+?` with an unknown price; empty if the cost is the same. */
function differenceText(steps: readonly ComparedStep[]): string {
  let difference = 0;
  let unknown = '';
  for (const { credits } of steps) {
    const { there = 0, here = 0 } = credits;
    if (there === null || here === null) {
      if (there !== here) unknown = here === null ? '+?' : '-?';
    } else difference += here - there;
  }
  const known = difference === 0 ? '' : signedText(difference);
  return [known, unknown].filter(Boolean).join(' ');
}

export function countsText({ steps }: CompareView): string {
  const counts = (['added', 'changed', 'moved', 'removed'] as const).flatMap((change) => {
    const count = steps.filter((step) => step.change === change).length;
    return count === 0 ? [] : [`${creditsText(count)} ${changeWords[change]}`];
  });
  return counts.length === 0 ? 'No step differs.' : counts.join(' · ');
}

export function moneyFacts(view: CompareView): { label: string; text: string }[] {
  const { there, here, toBuy, bought, boughtThere, discarded, fit } = view;
  const difference = here.credits - there.credits;
  const change = difference === 0 ? '' : ` (${signedText(difference)})`;
  const facts = [{ label: 'costs', text: changedText(wholeText(there), wholeText(here)) + change }];
  const add = (label: string, text: string) => facts.push({ label, text });
  if (there.budget !== here.budget) add('budget', changedText(budgetText(there), budgetText(here)));
  if (toBuy.credits > 0 || toBuy.unknownPrices > 0) add('still to buy', sumText(toBuy));
  if (fit !== undefined) add('budget left', budgetLeftText(fit, fit.left));
  if (bought.length > 0) add('bought', `${chargesText(bought)}, on record here and not there`);
  if (boughtThere.length > 0) add('not here', `${chargesText(boughtThere)}, on record there and not here`);
  if (discarded > 0) add('gives up', `${countOf(discarded, 'credit')} of paid work`);
  return facts;
}

function changedText(there: string, here: string): string {
  return there === here ? `${here}, as before` : `${there} before, ${here} now`;
}

function wholeText(sum: Comparison['here']): string {
  return `${countOf(sum.steps, 'step')} for ${sumText(sum)}`;
}

function budgetText({ budget }: { budget?: number }): string {
  return budget === undefined ? 'none' : creditsText(budget);
}

/** Returns a text such as `24 credits`, `24 credits + 3 of unknown price`. */
export function sumText({ credits, unknownPrices }: PriceSum): string {
  if (unknownPrices === 0) return countOf(credits, 'credit');
  const unknown = `${creditsText(unknownPrices)} of unknown price`;
  return credits === 0 ? unknown : `${countOf(credits, 'credit')} + ${unknown}`;
}

/** Returns a text such as `3 jobs for 6 credits, 2 posts, and 1 create whose charge is not known`. */
export function chargesText(charges: readonly Charge[]): string {
  const known = charges.filter(({ went }) => went !== 'held');
  const jobs = known.filter(({ kind }) => !isPost(kind));
  const posts = known.length - jobs.length;
  const held = charges.length - known.length;
  const credits = jobs.reduce((sum, charge) => sum + (charge.credits ?? 0), 0);
  const settled = [
    ...(jobs.length > 0 ? [`${countOf(jobs.length, 'job')} for ${countOf(credits, 'credit')}`] : []),
    ...(posts > 0 ? [countOf(posts, 'post')] : []),
  ];
  return [
    ...(settled.length > 0 ? [settled.join(', ')] : []),
    ...(held > 0 ? [`${countOf(held, 'create')} whose charge is not known`] : []),
  ].join(', and ');
}

export function compareJson(view: CompareView): Json {
  const { campaign, ref, commit, steps, there, here, toBuy, bought, boughtThere, discarded, fit } = view;
  const json = {
    mediabatch: 'comparison',
    version: 1,
    campaign,
    ref,
    commit,
    steps,
    there,
    here,
    difference: here.credits - there.credits,
    toBuy,
    ...defined({ fit }),
    bought: bought.map(chargeJson),
    boughtThere: boughtThere.map(chargeJson),
    discarded,
  };
  return json as unknown as Json;
}

function chargeJson({ id, address, task, kind, model, went, credits }: Charge): Json {
  return { id, address, task, kind, model, went, credits };
}
