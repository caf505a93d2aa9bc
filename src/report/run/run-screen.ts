import { isUnicodeSupported, Listr, type ListrRenderer } from 'listr2';
import { type Document, faint, joined, line, listOf, stack, type Text, warning, wordsOf } from '../document.ts';
import { countOf, creditsText } from '../numbers.ts';
import { FrameWriter, type ScreenStream, sizeOf } from '../render/frame-writer.ts';
import { blockLines } from '../render/terminal-text.ts';
import type { Style } from '../style.ts';
import type { RunTimes } from './remaining-time.ts';
import { lineOf, type RunReporter } from './run-lines.ts';
import type { RunView, TaskView } from './run-view.ts';
import { busyIn, doneIn, stageCounts, stoppingText, totalsText, waitTexts } from './run-words.ts';

interface ScreenOptions {
  stream: ScreenStream;
  style: Style;
  now(): number;
  view: RunView;
  times?: RunTimes | undefined;
  page?(): string | undefined;
}

/**
 * Draws the view of a run in the last lines of a terminal, five times a second. Prints each failure, notice and gate
 * once above these lines. `end` leaves the last frame on the terminal and restores the cursor. The caller handles
 * signals.
 */
export function createScreen(options: ScreenOptions): RunReporter {
  const { view, stream, style, now, times } = options;
  const writer = new FrameWriter(stream);
  const printed = new Set<string>();
  let waiting: Text[] = [];
  let startedAt = now();
  let shown: Promise<unknown> | undefined;
  let finish = () => {};

  const draw = (isOver: boolean) => {
    const { columns, rows } = sizeOf(stream);
    const above = waiting.flatMap((text) => blockLines(line(text), { style, room: Math.max(20, columns - 1) }));
    waiting = [];
    const moment = { now: now(), startedAt, times, isOver, page: options.page?.() };
    // The last row is for the cursor.
    const lines = screenLines(view, moment, { columns, rows: rows - (isOver ? 2 : 1), style });
    writer.draw(isOver ? [...lines, ''] : lines, above);
  };

  return {
    on(event) {
      const text = lineOf(event, view, { detail: 'screen', page: options.page });
      if (text !== undefined && !printed.has(wordsOf(text))) {
        printed.add(wordsOf(text));
        waiting.push(text);
      }
      if (event.event !== 'run-started' || shown !== undefined) return;
      startedAt = Date.parse(event.at);
      const over = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const list = new Listr<unknown, typeof ScreenRenderer, typeof ScreenRenderer>(
        [{ title: event.campaign, task: () => over }],
        {
          renderer: ScreenRenderer,
          fallbackRenderer: ScreenRenderer,
          rendererOptions: { draw },
          fallbackRendererOptions: { draw },
          registerSignalListeners: false,
        },
      );
      shown = list.run();
    },
    async end() {
      finish();
      try {
        await shown;
      } finally {
        writer.end();
      }
    },
  };
}

const frameMs = 200;

/**
 * Renderer for listr2, which sees the run as one task. The default renderer of listr2 writes all rows on each change
 * (49 kB/s for 30 tasks), delays all other output, and cuts the first rows if there are too many tasks.
 */
class ScreenRenderer implements ListrRenderer {
  static nonTTY = true;
  static rendererOptions: { draw(isOver: boolean): void };
  static rendererTaskOptions: never;
  readonly #options: typeof ScreenRenderer.rendererOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(_tasks: unknown, options: typeof ScreenRenderer.rendererOptions) {
    this.#options = options;
  }

  render(): void {
    this.#options.draw(false);
    this.#timer = setInterval(() => this.#options.draw(false), frameMs);
    this.#timer.unref();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#options.draw(true);
  }
}

interface Moment {
  /** In ms since 1970. */
  now: number;
  startedAt: number;
  times: RunTimes | undefined;
  page: string | undefined;
  isOver: boolean;
}

const barWidth = 16;
const leastForBars = 60;
const [barDone = '', barBusy = '', barRest = ''] = isUnicodeSupported() ? '█▒·' : '#=.';

export function screenLines(
  view: RunView,
  moment: Moment,
  { columns, rows, style }: { columns: number; rows: number; style: Style },
): string[] {
  const linesOf = (document: Document) => blockLines(stack(...document), { style, room: Math.max(20, columns - 1) });
  const totals = linesOf(totalsView(view, moment));
  const room = Math.max(0, rows - totals.length);
  return [...linesOf(tasksView(view, { rows: room, columns, isOver: moment.isOver })).slice(0, room), ...totals].slice(
    0,
    Math.max(0, rows),
  );
}

function totalsView(view: RunView, moment: Moment): Document {
  const { now, startedAt, times, isOver, page } = moment;
  const remaining = isOver ? undefined : times?.();
  const texts = totalsText(view, { isOver, elapsedMs: view.end?.elapsedMs ?? now - startedAt, remaining });
  const waits = isOver ? [] : [...(view.stopped ? [stoppingText(view.stopped)] : []), ...waitTexts(view, now, page)];
  return [...texts.map((text) => line(text)), ...waits.map((text) => line(warning(text)))];
}

function tasksView(
  view: RunView,
  { rows, columns: width, isOver }: { rows: number; columns: number; isOver: boolean },
): Document {
  const tasks = [...view.tasks.values()];
  const rankOf = (task: TaskView) => (busyIn(task) > 0 ? 0 : doneIn(task) < task.steps ? 1 : 2);
  const first = tasks.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, Math.max(0, rows - 1));
  const shown = tasks.length <= rows ? tasks : tasks.filter((task) => first.includes(task));
  const more = tasks.length - shown.length;
  const table = listOf(shown, [
    { title: '', least: 8, cut: 'middle', of: ({ id }) => id },
    { title: '', of: (task) => (width < leastForBars ? '' : barOf(task)) },
    {
      title: '',
      align: 'right',
      of: (task) => `${creditsText(doneIn(task))} of ${creditsText(task.steps)}`,
    },
    {
      title: '',
      align: 'right',
      of: ({ spent }) => (spent > 0 ? faint(`${creditsText(spent)} cr`) : ''),
    },
    { title: '', least: 8, of: (task) => restOf(task, isOver) },
  ]);
  return [table, more > 0 ? line(faint(`… and ${countOf(more, 'more task')}`)) : undefined];
}

function barOf(task: TaskView): Text {
  const cells = (count: number) => Math.min(barWidth, Math.floor((count / Math.max(1, task.steps)) * barWidth));
  const done = cells(doneIn(task));
  const busy =
    busyIn(task) === 0 ? 0 : Math.min(barWidth - done, Math.max(1, cells(doneIn(task) + busyIn(task)) - done));
  return [
    { text: barDone.repeat(done), mark: 'good' },
    { text: barBusy.repeat(busy), mark: 'active' },
    { text: barRest.repeat(barWidth - done - busy), mark: 'faint' },
  ];
}

function restOf(task: TaskView, isOver: boolean): Text {
  const counts = stageCounts(task, { isOver });
  return joined(counts.map(({ count, word, mark = 'name' }) => ({ text: `${creditsText(count)} ${word}`, mark })));
}
