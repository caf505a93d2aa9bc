import type { RunEvent } from '../../contract/event.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { cutToWidth } from '../text-width.ts';
import { noticeText } from './notice-text.ts';
import type { RunReporter } from './run-reporter.ts';
import type { RunTimes } from './run-time.ts';
import type { RunView, TaskView } from './run-view.ts';
import { awaitedGatesText, awaitedText, moneyRow, stoppingText, taskState } from './run-words.ts';
import { type Board, createBoard } from './screen-board.ts';
import { defaultColumns, defaultRows, type ScreenStream, showCursor } from './screen-output.ts';
import { hiddenTasks, taskRows } from './screen-rows.ts';

export interface ScreenOptions {
  /** The terminal; normally stderr. */
  stream: ScreenStream;
  style: Style;
  /** Milliseconds since 1970. */
  now(): number;
  /** The fold of the run. The caller of `on` has folded the event in before. */
  view: RunView;
  /** The address at which outputs are looked at and judged during the run, once there is one. */
  page?(): string | undefined;
  times?: RunTimes;
}

/** Rows besides those of the tasks: money, hidden tasks, three messages, one to spare. */
const otherRows = 6;

/**
 * Screen of a run on a terminal: a row per task, a row for the money, the last failures below. It redraws ten times a
 * second from the fold of the events. `end` leaves the last state standing and restores the cursor, also in mid-run.
 * Signals remain the caller's responsibility.
 */
export function createScreen(options: ScreenOptions): RunReporter {
  const { view } = options;
  let startedAt = options.now();
  let board: Board | undefined;
  const messages: string[] = [];

  const refresh = (moment: 'running' | 'ended') => {
    if (board === undefined) return;
    const columns = options.stream.columns ?? defaultColumns;
    const rows = (options.stream.rows ?? defaultRows) - otherRows;
    const hidden = moment === 'ended' ? new Set<string>() : hiddenTasks(view, Math.max(1, rows));
    for (const [id, text] of taskRows(view, { style: options.style, columns, hidden, isOver: moment === 'ended' }))
      board.show(id, text);
    board.show(moreId, hidden.size === 0 ? '' : `  … and ${countOf(hidden.size, 'more task')}`);
    board.show(moneyId, cutToWidth(`  ${moneyRow(view.money, options.now() - startedAt)}`, columns - 1));
    const waiting = [
      ...(view.awaited === undefined ? [] : [awaitedText(view.awaited, options.now())]),
      ...(view.awaitedGates === undefined ? [] : [awaitedGatesText(view.awaitedGates, options.page?.())]),
    ];
    const shown = [...waiting, ...messages.slice(waiting.length - messageIds.length)];
    messageIds.forEach((id, index) => {
      const message = moment === 'ended' ? undefined : shown[index];
      board?.show(id, message === undefined ? '' : cutToWidth(`  › ${message}`, columns - 1));
    });
    // A closed row is never redrawn, so with more tasks than rows all stay open: they may have to make room.
    if (hidden.size === 0) {
      for (const task of view.tasks.values()) if (moment === 'ended' || !mayGoOn(task)) closeTask(board, task, moment);
    }
    if (moment === 'ended') for (const id of ownIds) board.close(id, 'done');
  };

  /** People decide during the run, and then it begins. */
  const mayGoOn = ({ stages }: TaskView) => options.page !== undefined && (stages.get('awaits-pick') ?? 0) > 0;

  return {
    on(event) {
      if (event.event === 'run-started' && board === undefined) {
        startedAt = options.now();
        board = createBoard([...view.tasks.keys(), ...ownIds], {
          stream: options.stream,
          style: options.style,
          beforeFrame: () => refresh('running'),
        });
      }
      const message = messageOf(event);
      if (message !== undefined) messages.push(message);
      if (messages.length > messageIds.length) messages.shift();
    },
    async end() {
      if (board === undefined) return;
      try {
        await board.started;
        refresh('ended');
        await board.ended;
      } finally {
        options.stream.write(showCursor);
        board = undefined;
      }
    },
  };
}

/** Rows below those of the tasks. No task has such an ID. */
const moreId = ' more';
const moneyId = ' money';
const messageIds = [' message 1', ' message 2', ' message 3'];
const ownIds = [moreId, moneyId, ...messageIds];

function closeTask(board: Board, task: TaskView, moment: 'running' | 'ended'): void {
  const state = taskState(task);
  if (state !== 'open') board.close(task.id, state);
  else if (moment === 'ended') board.close(task.id, 'unfinished');
}

function messageOf(event: RunEvent): string | undefined {
  switch (event.event) {
    case 'step-finished': {
      const { outcome, address, error } = event;
      if (outcome === 'done' || outcome === 'left' || outcome === 'blocked') return undefined;
      return `${safeText(address, 300)} ${outcome}${error === undefined ? '' : `: ${safeText(error)}`}`;
    }
    case 'spending-stopped':
      return stoppingText(event);
    case 'noticed':
      return safeText(noticeText(event));
    default:
      return undefined;
  }
}
