import { countOf, creditsText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import { cutMiddle, displayWidth, padLeft, padRight } from '../text-width.ts';
import { type RunView, ratePerMinute, type TaskView } from './run-view.ts';
import { busyIn, doneIn, queuedIn, stageCounts, taskState } from './run-words.ts';
import { fillLine, joinedWithin, type Piece, piece, spaces, widthOf } from './screen-line.ts';
import { barPieces, isNarrow, isWide, type Look } from './screen-look.ts';

/** Returns a row for each task that fits, tasks in progress first, and one row for all other tasks. */
export function taskRows(view: RunView, look: Look, rows: number): string[] {
  const tasks = [...view.tasks.values()];
  const open = tasks.filter((task) => !isUpToDate(task));
  const own = open.length === 0 ? tasks : open;
  const shown = own.length === tasks.length && own.length <= rows ? own : mostActive(own, Math.max(1, rows - 1));
  const nameWidth = nameWidthOf(
    shown.map(({ id }) => id),
    look,
  );
  const digits = Math.max(1, ...shown.map(({ steps }) => creditsText(steps).length));
  const lines = shown.map((task) => taskRow(task, { view, look, nameWidth, digits }));
  if (shown.length < tasks.length && rows > 1) {
    const kept = new Set(shown);
    lines.push(
      foldedRow(
        tasks.filter((task) => !kept.has(task)),
        look,
      ),
    );
  }
  return lines;
}

function taskRow(
  task: TaskView,
  { view, look, nameWidth, digits }: { view: RunView; look: Look; nameWidth: number; digits: number },
): string {
  const { columns, style, planned } = look;
  const done = doneIn(task);
  const counts = isNarrow(look)
    ? piece(`${padLeft(creditsText(done), digits)}/${creditsText(task.steps)}`)
    : piece(`${padLeft(creditsText(done), digits)} of ${padRight(creditsText(task.steps), digits)}`);
  const words = [counts, ...wordsOf(task, { view, look })];
  const { spent } = task;
  const plan = planned.tasks.get(task.id);
  const expected =
    plan === undefined || plan.credits === 0 ? '' : ` of ${plan.isAbout ? '~' : ''}${creditsText(plan.credits)}`;
  const rate = ratePerMinute(task.rate, look.now);
  const rateText = rate === undefined || rate === 0 ? '' : `${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/min`;
  const money =
    spent > 0 || (isWide(look) && expected !== '') ? `${creditsText(spent)}${isWide(look) ? expected : ''} cr` : '';
  const head = [
    nameOf(task.id, nameWidth),
    spaces(2),
    ...barPieces({ all: task.steps, done, busy: busyIn(task) }, look),
    spaces(2),
  ];
  const right = [piece(money, 'faint'), ...(isWide(look) ? [piece(padLeft(rateText, 10))] : [])];
  const room = columns - 1 - widthOf(head) - (money === '' ? 0 : widthOf(right) + 2);
  return fillLine([...head, ...joinedWithin(words, room)], right, { columns, style });
}

function wordsOf(task: TaskView, { view, look }: { view: RunView; look: Look }): Piece[] {
  const words = stageCounts(task, look).map((one) => countPiece(one, look));
  const queued = look.isOver ? 0 : queuedIn(task);
  if (queued === 0) return words;
  const waitsFor = busyIn(task) > 0 ? [] : openNeeds(task, { view, look });
  if (waitsFor.length > 0) words.push(piece(`waits for ${safeText(waitsFor.join(', '), 100)}`, 'faint'));
  // In a narrow terminal, the bar shows the number of queued steps.
  else if (!isNarrow(look) || words.length === 0) words.push(piece(`${creditsText(queued)} queued`, 'faint'));
  return words;
}

export function countPiece({ count, word, short, mark }: ReturnType<typeof stageCounts>[number], look: Look): Piece {
  const narrowWord = word === 'failed' ? look.signs.failed : short;
  return piece(`${creditsText(count)} ${isNarrow(look) ? narrowWord : word}`, mark);
}

function openNeeds({ id }: TaskView, { view, look }: { view: RunView; look: Look }): string[] {
  const needs = look.planned.tasks.get(id)?.needs ?? [];
  return needs.filter((need) => {
    const task = view.tasks.get(need);
    return task !== undefined && taskState(task) === 'open';
  });
}

function mostActive(tasks: readonly TaskView[], rows: number): TaskView[] {
  const byRank: TaskView[][] = [[], [], [], [], []];
  for (const task of tasks) byRank[rankOf(task)]?.push(task);
  const chosen = new Set(byRank.flat().slice(0, rows));
  return tasks.filter((task) => chosen.has(task));
}

function rankOf(task: TaskView): number {
  const state = taskState(task);
  switch (state) {
    case 'open':
      return busyIn(task) > 0 ? 0 : queuedIn(task) < task.steps ? 2 : 3;
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

function isUpToDate({ steps, stages }: TaskView): boolean {
  return stages.get('kept') === steps;
}

function foldedRow(tasks: readonly TaskView[], { columns, style, isOver }: Look): string {
  const counts = { 'under way': 0, failed: 0, waiting: 0, unfinished: 0, done: 0, 'up to date': 0 };
  for (const task of tasks) {
    const state = taskState(task);
    if (isUpToDate(task)) counts['up to date'] += 1;
    else if (state !== 'open') counts[state] += 1;
    else if (isOver) counts.unfinished += 1;
    else counts[busyIn(task) > 0 ? 'under way' : 'waiting'] += 1;
  }
  const words = Object.entries(counts).flatMap(([word, count]) =>
    count === 0 ? [] : [`${creditsText(count)} ${word}`],
  );
  return fillLine([piece(`… ${countOf(tasks.length, 'more task')}: ${words.join(', ')}`, 'faint')], [], {
    columns,
    style,
  });
}

export function nameWidthOf(ids: readonly string[], look: Look): number {
  const most = isNarrow(look) ? 12 : isWide(look) ? 30 : 16;
  let width = creditsWord.length;
  for (const id of ids) width = Math.max(width, Math.min(most, displayWidth(safeText(id, 100))));
  return width;
}

export const creditsWord = 'credits';

export function nameOf(id: string, width: number): Piece {
  return { text: padRight(cutMiddle(safeText(id, 200), width), width), width, mark: undefined };
}
