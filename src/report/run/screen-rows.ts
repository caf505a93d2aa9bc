import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { cutMiddle, cutToWidth, displayWidth, padRight } from '../text-width.ts';
import type { RunView, TaskView } from './run-view.ts';
import { taskState, taskWords, type Word } from './run-words.ts';

const widestName = 30;
/** Columns for the icon and the space after it; the last column stays free, so that no terminal wraps a full row. */
const iconColumns = 3;

/** One row per task, by ID: name and counts, cut to the width. Hidden tasks have an empty row. */
export function taskRows(
  view: RunView,
  options: { style: Style; columns: number; hidden: ReadonlySet<string>; isOver: boolean },
): Map<string, string> {
  const { style, columns, hidden, isOver } = options;
  const names = new Map([...view.tasks.keys()].map((id) => [id, cutMiddle(safeText(id, 100), widestName)]));
  const nameWidth = [...names.values()].reduce((width, name) => Math.max(width, displayWidth(name)), 0);
  const rows = new Map<string, string>();
  for (const [id, task] of view.tasks) {
    const name = padRight(names.get(id) ?? '', nameWidth);
    rows.set(
      id,
      hidden.has(id) ? '' : taskRow(name, taskWords(task, { isOver }), { style, room: columns - iconColumns }),
    );
  }
  return rows;
}

/** Color codes have no width, so a row that has to be cut goes without them. */
function taskRow(name: string, words: Word[], options: { style: Style; room: number }): string {
  const { style, room } = options;
  const plain = `${name}  ${words.map(({ text }) => text).join(' · ')}`;
  if (displayWidth(plain) > room) return cutToWidth(plain, room);
  return `${name}  ${words.map((word) => paint(word, style)).join(' · ')}`;
}

function paint({ text, tone }: Word, style: Style): string {
  switch (tone) {
    case 'plain':
      return text;
    case 'bad':
      return style.red(text);
    case 'unsure':
      return style.yellow(text);
    default:
      return tone satisfies never;
  }
}

/**
 * Tasks without a row when there are more of them than rows: those with the least activity. Tasks with steps under way
 * stay longest, then failed ones, then those still to come, then finished ones.
 */
export function hiddenTasks(view: RunView, rows: number): ReadonlySet<string> {
  if (view.tasks.size <= rows) return new Set();
  const ranked = [...view.tasks.values()].toSorted((a, b) => rankOf(a) - rankOf(b));
  return new Set(ranked.slice(Math.max(0, rows - 1)).map(({ id }) => id));
}

function rankOf(task: TaskView): number {
  const state = taskState(task);
  switch (state) {
    case 'open':
      return task.stages.has('running') || task.stages.has('working') || task.stages.has('saving') ? 0 : 2;
    case 'failed':
      return 1;
    case 'unfinished':
      return 3;
    case 'done':
      return 4;
    default:
      return state satisfies never;
  }
}
