import { wordsOfPlan } from '../campaign/saved-options.ts';
import type { SavedPlan } from '../campaign/saved-plan.ts';
import { groupBy } from '../ground/values.ts';
import { publishes } from '../plan/actions.ts';
import { type Call, call } from '../plan/advice.ts';
import type { Plan } from '../plan/plan.ts';
import { postsOf } from '../plan/post-consent.ts';
import { isAskedAbout } from '../plan/post-record.ts';
import { countOf } from '../report/numbers.ts';
import { postsText, sideBySide } from '../report/plan/post-words.ts';
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
  tellHeld(carriedOut, terminal);
  tellAsked(carriedOut, terminal);
  const waiting = carriedOut.rows.filter(
    (row) => row.blockedBy === 'consent' && row.post !== undefined && !isAskedAbout(row),
  );
  if (waiting.length === 0) return;
  const addresses = new Set(waiting.map(({ address }) => address));
  const shown = [...addresses].slice(0, shownAddresses).map((address) => safeText(address, 300));
  const more = addresses.size > shown.length ? ` … and ${addresses.size - shown.length} more` : '';
  const them = addresses.size === 1 ? 'it' : 'them';
  const named = new Set(options.redo?.flatMap((text) => text.split(/\s+/)));
  const redone = planned.rows.filter(
    (row) => publishes(row) && (row.action === 'redo' || named.has(row.address)) && addresses.has(row.address),
  );
  // Of `--redo` only the posts: what else it named has been bought again by now.
  const again = redone.flatMap(({ address }) => ['--redo', address]);
  const out = saved?.path ?? `${file.replace(/\.(ya?ml|json)$/i, '')}.plan.json`;
  const agree = options.yes === true ? ['--yes', '--publish'] : ['--publish'];
  const approved: Call = { ...call('apply'), file: out, bare: true };
  const apply = saved === undefined ? call('apply', ...again, ...agree) : { ...approved, words: agree };
  // What was bought again, and for a new lock, is not bought once more.
  const { redo: _redo, new: _new, ...limits } = options;
  const plan: Call = { ...call('plan', ...wordsOfPlan(limits), ...again, '--out', out), file };
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

const shownAsked = 5;

/** Says which post of unknown fate keeps others from its accounts, and the way on. */
function tellHeld({ rows }: Plan, terminal: Terminal): void {
  const held = rows.filter(({ reason, beside }) => reason.code === 'post-open' && beside !== undefined);
  for (const [address = '', own] of [...groupBy(held, ({ beside }) => beside?.address)].slice(0, shownAsked)) {
    terminal.err(
      [
        `${terminal.style.yellow('waiting')}  ${countOf(own.length, 'post')} until somebody has looked whether ${safeText(address, 200)} is out`,
        `    to say so, with --job and its id, or --not-spent: ${terminal.paste(call('resolve', address))}`,
        '',
      ].join('\n'),
    );
  }
}

/** Puts posts that may be out under another name side by side with what is out, with all ways on. */
function tellAsked({ rows }: Plan, terminal: Terminal): void {
  const asked = rows.filter(isAskedAbout);
  if (asked.length === 0) return;
  const { yellow } = terminal.style;
  const lines = asked.slice(0, shownAsked).flatMap((row) => {
    const { address, beside } = row;
    if (beside === undefined) return [];
    return [
      ...sideBySide(row).map((line) => `    ${line}`),
      `      it is the same: ${terminal.paste(call('move', beside.address, address))}`,
      `      it is another one: ${terminal.paste(call('apply', '--redo', address, '--publish'))}`,
    ];
  });
  const gone = [...new Set(asked.flatMap(({ beside }) => beside?.address ?? []))].slice(0, shownAsked);
  const more = asked.length > shownAsked ? [`    … and ${countOf(asked.length - shownAsked, 'more post')}`] : [];
  terminal.err(
    [
      `${yellow('waiting')}  ${countOf(asked.length, 'post')} that may be out already, under another name: --publish does not cover ${asked.length === 1 ? 'it' : 'them'}`,
      ...lines,
      ...more,
      `    what is out has no new name, it only left the manifest: ${terminal.paste(call('forget', ...gone))}`,
      '',
    ].join('\n'),
  );
}
