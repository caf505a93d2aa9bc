import { Listr } from 'listr2';
import type { RunEvent } from '../../contract/event.ts';
import { creditsText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { wrapText } from '../text-width.ts';
import { nothingPlanned, type PlannedWork } from './planned-work.ts';
import type { RunReporter, RunTimes } from './run-time.ts';
import type { RunView } from './run-view.ts';
import { awaitedGatesText, awaitedUntilText, noticeText, stoppingText } from './run-words.ts';
import { frameLines } from './screen-frame.ts';
import { signsOfTerminal } from './screen-look.ts';
import { FrameWriter, ScreenRenderer, type ScreenStream, sizeOf } from './screen-output.ts';

export interface ScreenOptions {
  /** The terminal; normally stderr. */
  stream: ScreenStream;
  style: Style;
  /** Milliseconds since 1970. */
  now(): number;
  /** The fold of the run. The caller of `on` has folded the event in before. */
  view: RunView;
  /** Work to come, as the plan says it. */
  planned?: PlannedWork;
  times?: RunTimes;
  /** The address at which outputs are looked at and judged during the run, once there is one. */
  page?(): string | undefined;
}

/** Most bytes that are put above the screen in one frame: half of it. */
const mostAboveBytes = 2048;
/** Failures with the same words that are printed one by one. */
const mostOfOne = 5;
const mostNotices = 100;

/**
 * Screen of a run on a terminal, at its lower end: what scrolls above it stays. It redraws five times a second from the
 * fold of the events. Failures, notices and gates are printed above it, once. `end` leaves the last state standing and
 * restores the cursor, also in mid-run. Signals remain the caller's responsibility.
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
    // The last row is the cursor's.
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
  /** Its first words, which are coloured. */
  head: string;
  text: string;
  paint(text: string): string;
}

/** Messages that are put above the screen, each once: they stay in what scrolls away. */
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
        // It is tried again and again.
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

  /** Takes the oldest of what waits, as lines. They are broken at spaces; an address in them stays whole. */
  take(columns: number): string[] {
    const lines: string[] = [];
    for (let bytes = 0; bytes < mostAboveBytes; ) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      const { head, text, paint } = next;
      const whole = text === '' ? head : `${head}  ${text}`;
      const broken = whole.includes('://') ? [whole] : wrapText(whole, columns - 1, { maxLines: 6 });
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
