import type { SavedPlan } from '../campaign/saved-plan.ts';
import { type Call, call } from '../plan/advice.ts';
import type { Plan } from '../plan/plan.ts';
import { postsOf, publishes } from '../plan/post-consent.ts';
import { postsText } from '../report/plan/post-words.ts';
import { safeText } from '../report/safe-text.ts';
import type { ApplyOptions } from './apply-options.ts';
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
  // Of `--redo` only the posts: what else it named has been bought again by now.
  const again = redone.flatMap(({ address }) => ['--redo', address]);
  const out = saved?.path ?? `${file.replace(/\.(ya?ml|json)$/i, '')}.plan.json`;
  const agree = options.yes === true ? ['--yes', '--publish'] : ['--publish'];
  const approved: Call = { ...call('apply'), file: out, bare: true };
  const apply = saved === undefined ? call('apply', ...again, ...agree) : { ...approved, words: agree };
  const { select = [], exclude = [], first, sample, seed } = options;
  const trial = Object.entries({ '--first': first, '--sample': sample, '--seed': seed });
  const chosen = [
    ...select.flatMap((one) => ['--select', one]),
    ...exclude.flatMap((one) => ['--exclude', one]),
    ...trial.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)])),
  ];
  const plan: Call = { ...call('plan', ...chosen, ...again, '--out', out), file };
  terminal.err(
    [
      `${terminal.style.yellow('waiting')}  ${postsText(postsOf(waiting, 'waiting'))}: publishing takes a consent of its own`,
      `    ${shown.join(', ')}${more}`,
      `    to publish ${them}: ${terminal.paste(apply)}`,
      `    to have ${them} approved first: ${terminal.paste(plan)}, then ${terminal.paste(approved)}`,
      '',
    ].join('\n'),
  );
}
