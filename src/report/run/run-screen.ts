import { Listr, type ListrRenderer } from 'listr2';
import { line, type Text, wordsOf } from '../document.ts';
import { FrameWriter, type ScreenStream, sizeOf } from '../render/frame-writer.ts';
import { blockLines } from '../render/terminal-text.ts';
import type { Style } from '../style.ts';
import { StepLines } from './run-lines.ts';
import type { RunReporter, RunTimes } from './run-time.ts';
import type { RunView } from './run-view.ts';
import { screenLines } from './screen-view.ts';

interface ScreenOptions {
  stream: ScreenStream;
  style: Style;
  /** Milliseconds since 1970. */
  now(): number;
  /** View of the run. The caller of `on` has folded the event into it before. */
  view: RunView;
  times?: RunTimes;
  page?(): string | undefined;
}

/**
 * Screen of a run in the last lines of a terminal; the output above it scrolls. It is redrawn five times a second
 * from the view. Failures, notices and gates are printed above it, once. `end` leaves the last frame on the terminal
 * and restores the cursor, also before the run has ended. The caller handles signals.
 */
export function createScreen(options: ScreenOptions): RunReporter {
  const { view, stream, style, now, times = {} } = options;
  const messages = new StepLines({ ...options, detail: 'screen' });
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
      const text = messages.lineOf(event);
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

/** In ms. Five frames a second are half of what a terminal easily processes. */
const frameMs = 200;

/**
 * Renderer for listr2 with a single task, the run, that draws a document. The default renderer of listr2 writes all
 * rows again for each change (49 kB/s for 30 tasks), cuts the first rows when there are more tasks than
 * rows, and holds back all other output until its end.
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
