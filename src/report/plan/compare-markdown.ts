import type { Failure } from '../../contract/failure.ts';
import { groupBy } from '../../ground/values.ts';
import type { ComparedStep, Comparison } from '../../plan/compare/compare-versions.ts';
import type { Paste } from '../advice-text.ts';
import { type Block, facts, heading, named, paragraph, strong, type Text } from '../document.ts';
import { failureText } from '../failure-text.ts';
import { countOf, creditsText } from '../numbers.ts';
import { markdownText, mostCommentBytes } from '../render/markdown-text.ts';
import { safeText } from '../safe-text.ts';
import { makeStyle } from '../style.ts';
import {
  type CompareView,
  changeWords,
  countsText,
  differenceFinder,
  moneyFacts,
  rowOfStep,
  sumText,
} from './compare-text.ts';
import { indexRows } from './item-text.ts';
import { groupPlan, type PlanItem } from './plan-items.ts';
import { commentTable } from './plan-markdown.ts';

interface CommentOptions {
  /** Path of the manifest in its repository, which identifies the comment. */
  path: string;
}

/**
 * First line of a campaign's comment, by which a later run finds the comment to update. It contains the manifest's
 * path, because the name may be wrong, or the same in two campaigns. Text from a campaign cannot end it early.
 */
export function commentMarker(path: string): string {
  const percent = (found: string) => Buffer.from(found).toString('hex').replace(/../g, '%$&');
  const inert = path.replace(/[^A-Za-z0-9_./-]+/g, percent).replaceAll('--', '-%2d');
  return `<!-- mediabatch:${inert} -->`;
}

export function compareMarkdown(view: CompareView, { path }: CommentOptions): string {
  const { campaign, ref, commit, steps } = view;
  const rows = steps.map(rowOfStep);
  const { differencesOf, creditsOf } = differenceFinder(view);
  const wordOf = (item: PlanItem) => changeWords[differencesOf(item.rows)[0]?.change ?? 'changed'];
  const items = groupPlan({ rows }, { all: false });
  const document = [
    heading([named(campaign), titleEnd(view)]),
    paragraph([
      strong(countsText(view)),
      view.discarded > 0 ? ` · gives up ${countOf(view.discarded, 'credit')} of paid work` : '',
    ]),
    facts(moneyFacts(view).filter(({ label }) => label !== 'gives up' && label !== 'still to buy')),
    commentTable(items, indexRows({ rows }), { title: 'what', wordOf, creditsOf }),
    ...[...groupBy(steps, ({ task }) => task)].flatMap(([task, own]): Block[] => {
      if (own.length === 1) return [];
      const title = [named(task), `: ${countOf(own.length, 'step')}`];
      return [{ is: 'folded', title, lines: own.map(lineOf) }];
    }),
    paragraph(['compared with ', named(ref), ` (\`${commit.slice(0, 10)}\`)`]),
  ];
  return markdownText(document, { marker: commentMarker(path) });
}

/** Returns whether steps, purchases and budget are the same, so that a comment has no content. */
export function isSame({ steps, there, here, bought, boughtThere }: Comparison): boolean {
  return steps.length + bought.length + boughtThere.length === 0 && there.budget === here.budget;
}

/** Returns the remaining purchases and whether the budget covers them, because a merge approves them. */
function titleEnd({ toBuy, fit }: CompareView): string {
  if (toBuy.credits === 0 && toBuy.unknownPrices === 0) return '';
  const short =
    fit === undefined || fit.missing === 0 ? '' : `, ${creditsText(fit.missing)} more than the budget has left`;
  return `: ${sumText(toBuy)} to buy${short}`;
}

function lineOf({ change, address, text, credits, discards = 0 }: ComparedStep): Text {
  const price = credits.here === null ? 'price unknown' : countOf(credits.here ?? 0, 'credit');
  const words = [
    ...(change === 'removed' ? ['removed'] : change === 'moved' || credits.here === 0 ? [] : [price]),
    ...(discards > 0 ? [`gives up ${creditsText(discards)}`] : []),
  ];
  const isDetailed = change !== 'added' && change !== 'removed';
  const all = [named(safeText(address, 300)), ...words.map((word) => `, ${word}`)];
  return isDetailed ? [...all, ': ', named(safeText(text, 300))] : all;
}

const mostMistakes = 50;

/** Writes why there is no plan, in a block of code, in which GitHub interprets no Markdown. */
export function failureMarkdown(failure: Failure, { path, paste }: { path: string; paste: Paste }): string {
  const errors = 'diagnostics' in failure ? (failure.diagnostics ?? []).filter((one) => one.severity === 'error') : [];
  const what = errors.length > 0 ? countOf(errors.length, 'mistake') : 'there is no plan';
  const room = mostCommentBytes - 4_000;
  const textOf = (most: number) => failureText(failure, { style: makeStyle(false), paste, most }).trimEnd();
  let most = mostMistakes;
  let text = textOf(most);
  while (Buffer.byteLength(text) > room && most > 1) {
    most = Math.floor(most / 2);
    text = textOf(most);
  }
  if (Buffer.byteLength(text) > room) text = `${text.slice(0, room / 3)}…`;
  const document = [heading([named(path), `: ${what}`]), { is: 'code', language: 'text', text } as const];
  return markdownText(document, { marker: commentMarker(path) });
}
