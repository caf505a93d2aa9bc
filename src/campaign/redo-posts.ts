import { CampaignError } from '../contract/failure.ts';
import type { Tell } from '../contract/notice.ts';
import type { Match } from '../plan/find-purchases.ts';
import { isPost, sendsOf } from '../plan/post-record.ts';
import { shellWord } from '../report/shell-word.ts';

const shownAddresses = 5;

/**
 * Steps that `--redo` names, without posts that are not named by their own address: a task, a tag or a wildcard sends none of them
 * again. Where that leaves nothing, the person is told what to type instead. `settled`: of a saved plan, which is not asked
 * anew.
 */
export function sparePosts(
  redo: ReadonlySet<string>,
  context: { texts: readonly string[]; matches: readonly Match[]; settled: boolean; tell: Tell },
): ReadonlySet<string> {
  const { texts, matches, settled, tell } = context;
  if (redo.size === 0) return redo;
  // White space is “or”, and no address holds any: each word that is an address names it.
  const named = new Set(texts.flatMap((text) => text.split(/\s+/)));
  // I24
  const unnamed = matches.filter(({ step }) => redo.has(step.address) && isPost(step.kind) && !named.has(step.address));
  if (unnamed.length === 0) return redo;
  const spared = new Set(unnamed.map(({ step }) => step.address));
  const left = new Set([...redo].filter((address) => !spared.has(address)));
  const out = unnamed.flatMap(({ step, record }) =>
    record !== undefined && sendsOf(record).length > 0 ? [step.address] : [],
  );
  if (out.length === 0) return left;
  const shown = out.slice(0, shownAddresses);
  const more = out.length > shown.length ? ` and ${out.length - shown.length} more` : '';
  const are = out.length === 1 ? 'is posted' : 'are posted';
  const what = `${shown.join(', ')}${more} ${are}, and a post is sent again only by its very address`;
  const hint = `${shown.map((address) => `--redo ${shellWord(address)}`).join(' ')}${more === '' ? '' : ' …'}`;
  if (left.size === 0 && out.length === unnamed.length && !settled) {
    throw new CampaignError({
      code: 'MB3005',
      message: `--redo: ${what}`,
      hint: `name each: ${hint}; nothing was sent`,
      addresses: out,
    });
  }
  tell({ is: 'notice', text: `--redo: ${what} (${hint}); the rest is redone` });
  return left;
}
