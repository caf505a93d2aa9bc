import { groupBy } from '../../ground/values.ts';
import type { ComparedStep, Comparison } from '../../plan/compare-versions.ts';
import { countOf, creditsText } from '../numbers.ts';
import {
  type CompareView,
  changeWords,
  countsText,
  differenceFinder,
  moneyFacts,
  rowOfStep,
  sumText,
} from './compare-text.ts';
import { fitComment } from './fit-comment.ts';
import { indexRows } from './item-text.ts';
import { markdownCode } from './markdown-code.ts';
import { groupPlan, type PlanItem } from './plan-items.ts';
import { inHtml, itemTable } from './plan-markdown.ts';

export interface CommentOptions {
  /** Path of the manifest, in its repository: whose comment it is. */
  path: string;
  /** Address of one picture of what changes: https. */
  images?: URL | undefined;
}

/**
 * The first line of a campaign's comment, by which the next one finds it, and nothing in a campaign can end early. By the
 * manifest's path: the name may be what is mistaken, and two campaigns may have the same.
 */
export function commentMarker(path: string): string {
  const percent = (found: string) => Buffer.from(found).toString('hex').replace(/../g, '%$&');
  const inert = path.replace(/[^A-Za-z0-9_./-]+/g, percent).replaceAll('--', '-%2d');
  return `<!-- mediabatch:${inert} -->`;
}

/** The comparison for a comment on a pull request; names and texts of the campaign are inert. */
export function compareMarkdown(view: CompareView, { path, images }: CommentOptions): string {
  const { campaign, ref, commit, steps } = view;
  const rows = steps.map(rowOfStep);
  const { differencesOf, creditsOf } = differenceFinder(view);
  const wordOf = (item: PlanItem) => changeWords[differencesOf(item.rows)[0]?.change ?? 'changed'];
  const items = groupPlan({ rows }, { all: false });
  const against = `compared with ${markdownCode(ref)} (\`${commit.slice(0, 10)}\`)`;
  return fitComment({
    before: [
      commentMarker(path),
      `### ${markdownCode(campaign)}${titleEnd(view)}`,
      `**${countsText(view)}**${view.discarded > 0 ? ` · gives up ${countOf(view.discarded, 'credit')} of paid work` : ''}`,
      moneyFacts(view)
        .filter(({ label }) => label !== 'gives up' && label !== 'still to buy')
        .map(({ label, text }) => `- ${label}: ${text}`)
        .join('\n'),
    ],
    table: {
      text: itemTable(items, indexRows({ rows }), { title: 'what', wordOf, creditsOf }).join('\n'),
      steps: items.map((item) => item.rows.length),
    },
    // Alone in its line and after an empty one, an address is part of nothing else.
    between: images === undefined ? [] : [`![What changes, as pictures](${addressOf(images)})`],
    lists: [...groupBy(steps, ({ task }) => task)].flatMap(([task, own]) => {
      if (own.length === 1) return [];
      return [{ summary: `<code>${inHtml(task)}</code>: ${countOf(own.length, 'step')}`, lines: own.map(lineOf) }];
    }),
    after: [`<sub>${against}</sub>`],
  });
}

/** True when a comment has nothing to say: neither steps nor credits nor purchases differ. */
export function isSame({ steps, there, here, bought, boughtThere }: Comparison): boolean {
  return steps.length + bought.length + boughtThere.length === 0 && there.budget === here.budget;
}

/** Says what the next run would buy, if the budget carries it: that is what is agreed to here. */
function titleEnd({ toBuy }: CompareView): string {
  return toBuy.credits > 0 || toBuy.unknownPrices > 0 ? `: ${sumText(toBuy)} to buy` : '';
}

function lineOf({ change, address, text, credits, discards = 0 }: ComparedStep): string {
  const price = credits.here === null ? 'price unknown' : countOf(credits.here ?? 0, 'credit');
  const facts = [
    markdownCode(address, 300),
    ...(change === 'removed' ? ['removed'] : change === 'moved' || credits.here === 0 ? [] : [price]),
    ...(discards > 0 ? [`gives up ${creditsText(discards)}`] : []),
  ];
  return `- ${facts.join(', ')}${change === 'added' || change === 'removed' ? '' : `: ${markdownCode(text, 300)}`}`;
}

/** Writes the address of an image, with what would end the image in Markdown escaped. */
function addressOf({ href }: URL): string {
  return href.replace(/[()<>\\`|*_~[\]]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
}
