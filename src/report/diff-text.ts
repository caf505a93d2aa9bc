import type { Json } from '../ground/json.ts';
import { groupBy } from '../ground/values.ts';
import type { LockChange, LockDiff, LockDifference } from '../plan/compare/diff-locks.ts';
import { countOf, creditsText, signedText } from './numbers.ts';
import { footerLines } from './plan/footer-lines.ts';
import { safeText } from './safe-text.ts';
import type { Style } from './style.ts';
import { tableText } from './tables/table.ts';
import { wrapText } from './text-width.ts';

/** Two locks, and the commits they are from; without one it is the working tree. */
export interface DiffView extends LockDiff {
  from: { ref?: string; commit?: string };
  to: { ref?: string; commit?: string };
}

/** For each change: its mark, its words, and what is counted. */
const changes: { readonly [change in LockChange]: readonly [mark: string, words: string, noun: string] } = {
  bought: ['+', 'bought', 'job'],
  gone: ['-', 'no longer on record', 'job'],
  changed: ['~', 'changed', 'job'],
  moved: ['>', 'moved', 'job'],
  forgotten: ['-', 'forgotten', 'job'],
  remembered: ['+', 'no longer forgotten', 'job'],
  asked: ['?', 'create request without an answer', 'create'],
  settled: ['=', 'create request answered', 'create'],
  resolved: ['=', 'create request resolved by a user', 'create'],
  pinned: ['=', 'pinned', 'step'],
  unpinned: ['=', 'unpinned', 'step'],
  accepted: ['=', 'accepted', 'step'],
  unaccepted: ['=', 'no longer accepted', 'step'],
  picked: ['=', 'picked', 'step'],
  rejected: ['=', 'rejected', 'step'],
  undecided: ['=', 'no longer picked or rejected', 'step'],
};

const columns = [
  { title: '' },
  { title: 'step', least: 12, cut: 'middle' as const },
  { title: 'kind', least: 4 },
  { title: 'count', align: 'right' as const },
  { title: 'credits', align: 'right' as const },
  { title: 'what', least: 16 },
];

/** Renders what differs, a line for each task and change, and the credits last. Ends with a line feed. */
export function diffText(view: DiffView, options: { style: Style; width?: number; all?: boolean }): string {
  const { style, all = false } = options;
  const { width = Number.POSITIVE_INFINITY } = options;
  const head = wrapText(`lock from ${sideText(view.from)} to ${sideText(view.to)}`, width, { maxLines: 4 });
  const items = itemsOf(view.rows, all);
  const money = footerLines(moneyFacts(view), options);
  const blocks = [`${head.map(style.bold).join('\n')}\n`, tableText(columns, items, options), `${money.join('\n')}\n`];
  return blocks.filter((block) => block !== '').join('\n');
}

export function diffJson({ from, to, rows, before, after, discarded }: DiffView): Json {
  const json = { mediabatch: 'diff', version: 1, from, to, rows, before, after, difference: after - before, discarded };
  return json as unknown as Json;
}

/** One line for each task and change, or for each row. */
function itemsOf(rows: readonly LockDifference[], all: boolean): string[][] {
  const groups = all
    ? rows.map((row) => [row])
    : [...groupBy(rows, ({ change, task, kind, id }) => `${change}\n${task}\n${kind}\n${id === undefined}`).values()];
  return groups.flatMap((group): string[][] => {
    const [first] = group;
    if (first === undefined) return [];
    const [mark, , noun] = changes[first.change];
    const credits = group.reduce((sum, row) => sum + (row.credits ?? 0), 0);
    const name = group.length === 1 ? first.address : first.task;
    const money = credits === 0 ? '' : signedText(credits);
    return [[mark, name, first.kind, countOf(group.length, noun), money, whatOf(group, first)]];
  });
}

function whatOf(group: readonly LockDifference[], { change, movedFrom }: LockDifference): string {
  const [, words] = changes[change];
  switch (change) {
    case 'bought':
    case 'gone':
    case 'changed': {
      const states = groupBy(group, ({ state = 'done', stateBefore }) =>
        stateBefore === undefined || stateBefore === state ? state : `${stateBefore} → ${state}`,
      );
      const told = [...states].map(([state, { length }]) => (states.size === 1 ? state : `${length} ${state}`));
      return change === 'changed' ? told.join(', ') : `${words}: ${told.join(', ')}`;
    }
    case 'moved':
      return group.length === 1 ? `was ${movedFrom}` : words;
    default:
      return words;
  }
}

function moneyFacts({ rows, before, after, discarded }: DiffView): { label: string; text: string }[] {
  const difference = after - before;
  const change = difference === 0 ? '' : ` (${signedText(difference)})`;
  return [
    ...(rows.length === 0 ? [{ label: 'the same', text: 'no purchase and no decision differs' }] : []),
    { label: 'spent', text: `${creditsText(before)} before, ${creditsText(after)} after${change}` },
    ...(discarded > 0 ? [{ label: 'gives up', text: `${countOf(discarded, 'credit')} of paid work` }] : []),
  ];
}

function sideText({ ref, commit }: DiffView['from']): string {
  return ref === undefined ? 'the working tree' : `${safeText(ref)} (${commit?.slice(0, 10)})`;
}
