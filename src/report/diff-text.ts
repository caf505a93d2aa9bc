import type { Json } from '../ground/json.ts';
import { groupBy } from '../ground/values.ts';
import type { LockChange, LockDiff, LockDifference } from '../plan/compare/diff-locks.ts';
import { countOf, creditsText, signedText } from './numbers.ts';
import { markdownCode, markdownTable } from './plan/fit-comment.ts';
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

const marks: { readonly [change in LockChange]: string } = {
  bought: '+',
  gone: '-',
  changed: '~',
  moved: '>',
  forgotten: '-',
  remembered: '+',
  asked: '?',
  settled: '=',
  pinned: '=',
  unpinned: '=',
  accepted: '=',
  unaccepted: '=',
  picked: '=',
  rejected: '=',
  undecided: '=',
  resolved: '=',
};

const words: { readonly [change in LockChange]: string } = {
  bought: 'bought',
  gone: 'not on record any more',
  changed: 'changed',
  moved: 'moved',
  forgotten: 'forgotten',
  remembered: 'forgotten no more',
  asked: 'its answer is open',
  settled: 'its answer is known',
  pinned: 'pinned',
  unpinned: 'pinned no more',
  accepted: 'accepted as it is',
  unaccepted: 'accepted no more',
  picked: 'picked at its gate',
  rejected: 'rejected at its gate',
  undecided: 'neither picked nor rejected any more',
  resolved: 'a person decided about a create',
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
  const cells = items.map((item) => [item.mark, item.name, item.kind, item.count, item.credits, item.what]);
  const money = footerLines(moneyFacts(view), options);
  const blocks = [`${head.map(style.bold).join('\n')}\n`, tableText(columns, cells, options), `${money.join('\n')}\n`];
  return blocks.filter((block) => block !== '').join('\n');
}

/** The same for a comment on a pull request; names are inert. */
export function diffMarkdown(view: DiffView): string {
  const rows = itemsOf(view.rows, false).map(({ mark, name, kind, count, credits, what }) => [
    `\`${mark}\``,
    markdownCode(name, 300),
    markdownCode(kind),
    count,
    credits,
    markdownCode(what),
  ]);
  const sides = [view.from, view.to].map(({ ref, commit }) =>
    ref === undefined ? 'the working tree' : `${markdownCode(ref)} (\`${commit?.slice(0, 10)}\`)`,
  );
  const money = moneyFacts(view).map(({ label, text }) => `- ${label}: ${text}`);
  const parts = [`### Lock from ${sides.join(' to ')}`, ...(rows.length > 0 ? [markdownTable(columns, rows)] : [])];
  return `${[...parts, money.join('\n')].join('\n\n')}\n`;
}

export function diffJson({ from, to, rows, before, after, discarded }: DiffView): Json {
  const json = { mediabatch: 'diff', version: 1, from, to, rows, before, after, difference: after - before, discarded };
  return json as unknown as Json;
}

interface Item {
  mark: string;
  name: string;
  kind: string;
  count: string;
  credits: string;
  what: string;
}

/** Rows of one task to which the same happened are one item. */
function itemsOf(rows: readonly LockDifference[], all: boolean): Item[] {
  const groups = all
    ? rows.map((row) => [row])
    : [...groupBy(rows, ({ change, task, kind, id }) => `${change}\n${task}\n${kind}\n${id === undefined}`).values()];
  return groups.flatMap((group): Item[] => {
    const [first] = group;
    if (first === undefined) return [];
    const credits = group.reduce((sum, row) => sum + (row.credits ?? 0), 0);
    return [
      {
        mark: marks[first.change],
        name: group.length === 1 ? first.address : first.task,
        kind: first.kind,
        count: countOf(group.length, nounOf(first.change)),
        credits: credits === 0 ? '' : signedText(credits),
        what: whatOf(group, first),
      },
    ];
  });
}

function nounOf(change: LockChange): string {
  switch (change) {
    case 'asked':
    case 'settled':
    case 'resolved':
      return 'create';
    case 'bought':
    case 'gone':
    case 'changed':
    case 'moved':
    case 'forgotten':
    case 'remembered':
      return 'job';
    default:
      return 'step';
  }
}

function whatOf(group: readonly LockDifference[], { change, movedFrom }: LockDifference): string {
  switch (change) {
    case 'bought':
    case 'gone':
    case 'changed': {
      const states = groupBy(group, ({ state = 'done', stateBefore }) =>
        stateBefore === undefined || stateBefore === state ? state : `${stateBefore} → ${state}`,
      );
      const told = [...states].map(([state, { length }]) => (states.size === 1 ? state : `${length} ${state}`));
      return change === 'changed' ? told.join(', ') : `${words[change]}: ${told.join(', ')}`;
    }
    case 'moved':
      return group.length === 1 ? `was ${movedFrom}` : words.moved;
    default:
      return words[change];
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
