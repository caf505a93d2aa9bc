import { Listr } from 'listr2';
import type { RunEvent } from '../../contract/event.ts';
import { type Text, wordsOf } from '../document.ts';
import { paintLine, wrap } from '../render/spans.ts';
import type { Style } from '../style.ts';
import { nothingPlanned, type PlannedWork } from './planned-work.ts';
import { eventLine } from './run-lines.ts';
import type { RunReporter, RunTimes } from './run-time.ts';
import type { RunView } from './run-view.ts';
import { noticeText } from './run-words.ts';
import { frameLines } from './screen-frame.ts';
import { signsOfTerminal } from './screen-look.ts';
import { FrameWriter, ScreenRenderer, type ScreenStream, sizeOf } from './screen-output.ts';

export interface ScreenOptions {
  stream: ScreenStream;
  style: Style;
  /** Milliseconds since 1970. */
  now(): number;
  /** View of the run. The caller of `on` has folded the event into it before. */
  view: RunView;
  planned?: PlannedWork;
  times?: RunTimes;
  page?(): string | undefined;
}

/** Limit of bytes that are printed above the screen in one frame, which is half of the frame's limit. */
const mostAboveBytes = 2048;
/** Limit of failures with the same text that are printed. */
const mostOfOne = 5;
const mostNotices = 100;

/**
 * Screen of a run in the last lines of a terminal; the output above it scrolls. It is redrawn five times a second
 * from the view. Failures, notices and gates are printed above it, once. `end` leaves the last frame on the terminal
 * and restores the cursor, also before the run has ended. The caller handles signals.
 */
export function createScreen(options: ScreenOptions): RunReporter {
  const { view, stream, style, now, planned = nothingPlanned, times = {} } = options;
  const messages = new ScreenMessages(options);
  const writer = new FrameWriter(stream);
  const signs = signsOfTerminal();
  let startedAt = now();
  let frame = 0;
  let shown: Promise<unknown> | undefined;
  let finish = () => {};

  const draw = (isOver: boolean) => {
    const { columns, rows } = sizeOf(stream);
    const page = options.page?.();
    const look = { style, signs, planned, times, startedAt, page, isOver, columns };
    // The last row is for the cursor.
    const lines = frameLines(view, { ...look, rows: rows - (isOver ? 2 : 1), now: now(), frame });
    frame += 1;
    return writer.draw(isOver ? [...lines, ''] : lines, messages.take(columns)) && !messages.isWaiting;
  };

  return {
    on(event) {
      messages.note(event);
      if (event.event !== 'run-started' || shown !== undefined) return;
      startedAt = Date.parse(event.at);
      const over = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const drawing = {
        draw: () => draw(false),
        end() {
          while (!draw(true));
          writer.end();
        },
      };
      const list = new Listr<unknown, typeof ScreenRenderer, typeof ScreenRenderer>(
        [{ title: event.campaign, task: () => over }],
        {
          renderer: ScreenRenderer,
          fallbackRenderer: ScreenRenderer,
          rendererOptions: drawing,
          fallbackRendererOptions: drawing,
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

/** Messages to print above the screen, each once, where they stay in the scrollback. */
class ScreenMessages {
  readonly #options: ScreenOptions;
  readonly #notices = new Set<string>();
  #waiting: Text[] = [];

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  note(event: RunEvent): void {
    const text = this.#isShown(event) ? eventLine(event, this.#options.view, this.#options.page) : undefined;
    if (text !== undefined) this.#waiting.push(text);
  }

  #isShown(event: RunEvent): boolean {
    const { troubles, lastEnded } = this.#options.view;
    if (lastEnded !== undefined) {
      const trouble = [...troubles.values()].at(-1);
      return trouble?.address === lastEnded.end.address && trouble.count <= mostOfOne;
    }
    switch (event.event) {
      case 'job-retried':
      case 'spending-stopped':
      case 'spending-resumed':
      case 'picks-awaited':
        return true;
      case 'credits-awaited':
        // The wait is reported once, although its create request is repeated many times.
        return this.#isNew(`until ${event.until}`);
      case 'noticed':
        // All of them are recorded.
        return this.#notices.size < mostNotices && this.#isNew(noticeText(event));
      default:
        return false;
    }
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Removes the oldest waiting messages and returns their lines. They are broken at spaces; addresses stay whole. */
  take(columns: number): string[] {
    const { style } = this.#options;
    const lines: string[] = [];
    for (let bytes = 0; bytes < mostAboveBytes; ) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      const whole = wordsOf(next);
      const room = whole.includes('://') ? Number.POSITIVE_INFINITY : columns - 1;
      lines.push(...wrap(next, { style, room }, { most: 6, isHard: true }).map((line) => paintLine(line, style)));
      bytes += Buffer.byteLength(whole);
    }
    return lines;
  }

  #isNew(name: string): boolean {
    if (this.#notices.has(name)) return false;
    this.#notices.add(name);
    return true;
  }
}
