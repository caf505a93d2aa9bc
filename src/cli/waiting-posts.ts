import type { Plan } from '../plan/plan.ts';
import { publishes } from '../plan/post-consent.ts';
import { postsOf, postsText } from '../report/post-words.ts';
import { safeText } from '../report/safe-text.ts';
import { shellWord } from '../report/shell-word.ts';
import type { ApplyOptions } from './apply-options.ts';
import type { SavedPlan } from './saved-plan.ts';
import type { Terminal } from './terminal.ts';

const shownAddresses = 10;

/** Says which posts of a plan were not sent because nobody agreed to them, and both ways on. */
export function tellWaiting(
  carriedOut: Plan,
  context: { file: string; options: ApplyOptions; planned: Plan; saved?: SavedPlan; terminal: Terminal },
): void {
  const { file, options, planned, saved, terminal } = context;
  const waiting = carriedOut.rows.filter(({ blockedBy, post }) => blockedBy === 'consent' && post !== undefined);
  if (waiting.length === 0) return;
  const addresses = new Set(waiting.map(({ address }) => address));
  const shown = [...addresses].slice(0, shownAddresses).map((address) => safeText(address, 300));
  const more = addresses.size > shown.length ? ` … and ${addresses.size - shown.length} more` : '';
  const them = addresses.size === 1 ? 'it' : 'them';
  const redone = planned.rows.filter((row) => publishes(row) && row.action === 'redo' && addresses.has(row.address));
  const again = flagsOf(
    options,
    redone.map(({ address }) => address),
  );
  const out = shellWord(saved?.path ?? `${file.replace(/\.(ya?ml|json)$/i, '')}.plan.json`);
  const agree = options.yes === true ? ' --yes --publish' : ' --publish';
  const apply = saved === undefined ? `${shellWord(file)}${again}` : out;
  terminal.err(
    [
      `${terminal.style.yellow('waiting')}  ${postsText(postsOf(waiting, 'waiting'))}: publishing takes a consent of its own`,
      `    ${shown.join(', ')}${more}`,
      `    to publish ${them}: mediabatch apply ${apply}${agree}`,
      `    to have ${them} approved first: mediabatch plan ${shellWord(file)}${again} --out ${out}, then mediabatch apply ${out}`,
      '',
    ].join('\n'),
  );
}

/** What makes a plan the same again. Of `--redo` only the posts: what else it named has been bought again by now. */
function flagsOf({ sandbox, lock, var: vars, select, exclude }: ApplyOptions, redo: readonly string[]): string {
  const given = (option: string, values: readonly string[]) =>
    values.map((value) => ` ${option} ${shellWord(value)}`).join('');
  return [
    sandbox === true ? ' --sandbox' : '',
    given('--lock', lock === undefined ? [] : [lock]),
    given(
      '--var',
      Object.entries(vars ?? {}).map(([name, value]) => `${name}=${value}`),
    ),
    given('--select', select ?? []),
    given('--exclude', exclude ?? []),
    given('--redo', redo),
  ].join('');
}
