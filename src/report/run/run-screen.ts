import { Listr } from 'listr2';
import type { RunEvent } from '../../contract/event.ts';
import { creditsText } from '../numbers.ts';
import { paintLine, wrap } from '../render/spans.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { nothingPlanned, type PlannedWork } from './planned-work.ts';
import type { RunReporter, RunTimes } from './run-time.ts';
import type { RunView } from './run-view.ts';
import { awaitedGatesText, awaitedUntilText, noticeText, stoppingText } from './run-words.ts';
import { frameLines } from './screen-frame.ts';
import { signsOfTerminal } from './screen-look.ts';
import { FrameWriter, ScreenRenderer, type ScreenStream, sizeOf } from './screen-output.ts';

export interface ScreenOptions {
  /** Terminal of the screen, normally stderr. */
  stream: ScreenStream;
  style: Style;
  /** Milliseconds since 1970. */
  now(): number;
  /** View of the run. The caller of `on` has folded the event into it before. */
  view: RunView;
  /** Work that the plan expects. */
  planned?: PlannedWork;
  times?: RunTimes;
  /** Address of the review page of the run, once there is one. */
  page?(): string | undefined;
}

/** Limit of bytes that are printed above the screen in one frame, which is half of the frame's limit. */
const mostAboveBytes = 2048;
/** Limit up to which failures with the same text are printed one by one. */
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

interface ScreenMessage {
  /** First words, which are coloured. */
  head: string;
  text: string;
  paint(text: string): string;
}

/** Messages to print above the screen, each once, where they stay in the scrollback. */
class ScreenMessages {
  readonly #options: ScreenOptions;
  readonly #notices = new Set<string>();
  #waiting: ScreenMessage[] = [];

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  note(event: RunEvent): void {
    const { style, page, now, view } = this.#options;
    const say = (paint: ScreenMessage['paint'], head: string, text = '') => {
      this.#waiting.push({ head: safeText(head, 300), text, paint });
    };
    switch (event.event) {
      case 'step-finished': {
        const { outcome, address } = event;
        const trouble = [...view.troubles.values()].at(-1);
        if (trouble?.address !== address || trouble.count > mostOfOne) return;
        say(outcome === 'unresolved' ? style.yellow : style.red, address, failureWords(event, trouble.count));
        return;
      }
      case 'job-retried':
        say(style.yellow, event.address, `job failed: ${withoutStop(event.error)}; it is bought again`);
        return;
      case 'spending-stopped':
        say(style.yellow, stoppingText(event));
        return;
      case 'credits-awaited': {
        // The wait is reported once, although its create request is repeated many times.
        const isNew = this.#isNew(`until ${event.until}`);
        if (isNew) say(style.yellow, awaitedUntilText(event, now()), `(${safeText(event.detail)})`);
        return;
      }
      case 'spending-resumed':
        say(style.green, 'there are credits again');
        return;
      case 'picks-awaited':
        say(style.yellow, awaitedGatesText(event.gates, page?.()));
        return;
      case 'noticed':
        if (this.#notices.size > mostNotices || !this.#isNew(noticeText(event))) return;
        if (this.#notices.size > mostNotices) say(style.yellow, 'notices', 'go on, and are only recorded from here');
        else say(style.yellow, 'notice', safeText(noticeText(event)));
        return;
      default:
        return;
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
      const { head, text, paint } = next;
      const whole = text === '' ? head : `${head}  ${text}`;
      const wrapped = wrap(whole, { style, room: columns - 1 }, { most: 6, isHard: true });
      const broken = whole.includes('://') ? [whole] : wrapped.map((line) => paintLine(line, style));
      const [first = '', ...others] = broken;
      lines.push(first.startsWith(head) ? paint(head) + first.slice(head.length) : first, ...others);
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

function failureWords(event: Extract<RunEvent, { event: 'step-finished' }>, printed: number): string {
  const { outcome, error, credits } = event;
  const why = error === undefined ? '' : `: ${withoutStop(error)}`;
  const charged = credits !== null && credits > 0 ? `; charged ${creditsText(credits)}` : '';
  return `${outcome}${why}${charged}${printed === mostOfOne ? ' (more of these are only counted)' : ''}`;
}

function withoutStop(text: string): string {
  return safeText(text).replace(/\.$/, '');
}
