import { Listr } from 'listr2';
import type { RunEvent } from '../../contract/event.ts';
import { countOf, creditsText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { noticeText } from './notice-text.ts';
import { nothingPlanned, type PlannedWork } from './planned-work.ts';
import type { RunReporter } from './run-reporter.ts';
import type { RunTimes } from './run-time.ts';
import type { RunView } from './run-view.ts';
import { awaitedGatesText, awaitedText, stoppingText } from './run-words.ts';
import { isTrouble, ScreenFacts } from './screen-facts.ts';
import { frameLines } from './screen-frame.ts';
import { FrameWriter, ScreenRenderer, type ScreenStream, sizeOf } from './screen-output.ts';
import { signsOfTerminal } from './screen-signs.ts';
import { textOf } from './summary-troubles.ts';

export interface ScreenOptions {
  /** The terminal; normally stderr. */
  stream: ScreenStream;
  style: Style;
  /** Milliseconds since 1970. */
  now(): number;
  /** The fold of the run. The caller of `on` has folded the event in before. */
  view: RunView;
  /** What the plan says of the work to come. */
  planned?: PlannedWork;
  times?: RunTimes;
  /** The address at which outputs are looked at and judged during the run, once there is one. */
  page?(): string | undefined;
}

/** Lines that wait to be put above the screen: no more of them at once than fit a frame of 4 KB. */
const mostAbove = 12;
/** Failures with the same words that are told one by one. */
const mostOfOne = 5;
const mostNotices = 100;

/**
 * Screen of a run on a terminal, at its lower end: what scrolls above it stays. It redraws five times a second from the
 * fold of the events. Failures, notices and gates are told above it, once. `end` leaves the last state standing and
 * restores the cursor, also in mid-run. Signals remain the caller's responsibility.
 */
export function createScreen(options: ScreenOptions): RunReporter {
  const { view, stream, style, now, planned = nothingPlanned, times = {} } = options;
  const facts = new ScreenFacts();
  const tidings = new Tidings(options);
  const writer = new FrameWriter(stream);
  const signs = signsOfTerminal();
  let startedAt = now();
  let frame = 0;
  let shown: Promise<unknown> | undefined;
  let finish = () => {};

  const draw = (isOver: boolean) => {
    const { columns, rows } = sizeOf(stream);
    const page = options.page?.();
    const look = { style, signs, facts, planned, times, startedAt, page, isOver, columns };
    // The last row is the cursor's.
    const lines = frameLines(view, { ...look, rows: rows - (isOver ? 2 : 1), now: now(), frame });
    writer.draw(isOver ? [...lines, ''] : lines, tidings.take(isOver ? Number.POSITIVE_INFINITY : mostAbove));
    frame += 1;
  };

  return {
    on(event) {
      facts.note(event, view);
      tidings.note(event);
      if (event.event !== 'run-started' || shown !== undefined) return;
      startedAt = now();
      const over = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const drawing = {
        draw: () => draw(false),
        end() {
          draw(true);
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

/** What is told above the screen, each once: it stays in what scrolls away. */
class Tidings {
  readonly #options: ScreenOptions;
  readonly #told = new Map<string, number>();
  readonly #notices = new Set<string>();
  #waiting: string[] = [];

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  note(event: RunEvent): void {
    const { style, page, now } = this.#options;
    switch (event.event) {
      case 'step-finished': {
        const { outcome, address, error } = event;
        if (!isTrouble(outcome)) return;
        const told = 1 + (this.#told.get(`${outcome} ${textOf(event)}`) ?? 0);
        this.#told.set(`${outcome} ${textOf(event)}`, told);
        if (told > mostOfOne) return;
        const charged = event.credits !== null && event.credits > 0 ? `; charged ${creditsText(event.credits)}` : '';
        const why = error === undefined ? '' : `: ${safeText(error).replace(/\.$/, '')}`;
        const end = told === mostOfOne ? ' (more of these are only counted)' : '';
        const paint = outcome === 'unresolved' ? style.yellow : style.red;
        this.#waiting.push(`${paint(safeText(address, 300))} ${outcome}${why}${charged}${style.dim(end)}`);
        return;
      }
      case 'job-retried':
        this.#waiting.push(
          `${style.yellow(safeText(event.address, 300))} ${safeText(event.error)}; it is bought again`,
        );
        return;
      case 'spending-stopped':
        this.#waiting.push(style.yellow(stoppingText(event)));
        return;
      case 'credits-awaited':
        this.#once(
          style.yellow(`${awaitedText(event, now())} (${safeText(event.detail)})`),
          `402 until ${event.until}`,
        );
        return;
      case 'spending-resumed':
        this.#waiting.push(style.green('there are credits again'));
        return;
      case 'picks-awaited':
        this.#waiting.push(style.yellow(awaitedGatesText(event.gates, page?.())));
        return;
      case 'noticed': {
        const text = safeText(noticeText(event));
        this.#once(`${style.yellow('notice')} ${text}`, text);
        return;
      }
      default:
        return;
    }
  }

  /** Takes the oldest of what waits. */
  take(most: number): string[] {
    if (this.#waiting.length <= most) {
      const all = this.#waiting;
      this.#waiting = [];
      return all;
    }
    return this.#waiting.splice(0, most);
  }

  #once(line: string, name: string): void {
    if (this.#notices.has(name) || this.#notices.size > mostNotices) return;
    this.#notices.add(name);
    this.#waiting.push(
      this.#notices.size > mostNotices ? `${countOf(mostNotices, 'notice')} were shown, more are only recorded` : line,
    );
  }
}
