import type { RunEvent } from '../../contract/event.ts';
import { countOf, elapsedText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import { type EventLineOptions, eventLine, stepLine } from './event-lines.ts';
import { remainingText } from './remaining-text.ts';
import type { RunReporter } from './run-reporter.ts';
import type { RunTimes } from './run-time.ts';
import type { RunView } from './run-view.ts';
import { awaitedGatesText, awaitedText, endText, moneyRow, progressText, taskWords } from './run-words.ts';
import { isTrouble } from './troubles.ts';

/** `quiet`: only what went wrong; `steps`: what has ended; `events`: everything that happens. */
export type Detail = 'quiet' | 'steps' | 'events';

export interface LinesOptions extends EventLineOptions {
  /** Milliseconds since 1970. */
  now(): number;
  /** The fold of the run. The caller of `on` has folded the event in before. */
  view: RunView;
  /** Default: `steps`. */
  detail?: Detail;
  times?: RunTimes | undefined;
  /**
   * Calls `call` every `ms` until the returned function is called. This provides heartbeats even without events;
   * otherwise only events (a poll, a repeated create) trigger one.
   */
  every?(ms: number, call: () => void): () => void;
}

const heartbeatMs = 30_000;
/** A run of more steps has a line for each tenth of a task. */
const mostStepLines = 200;

/**
 * Log of a run, for where nothing can be redrawn: a line for each step that has ended, or in a large run for each tenth of
 * a task; what failed in any case; every 30 s where the run is. A line starts with an address or with our own
 * words, and holds no control characters.
 */
export function createLines(write: (text: string) => void, options: LinesOptions): RunReporter {
  const { view, detail = 'steps', now } = options;
  const steps = new StepLines(options);
  let startedAt = now();
  let beatAt = startedAt;
  let stopTicking = () => {};

  const say = (line: string) => write(`${line}\n`);
  const beat = () => {
    if (detail === 'quiet' || now() - beatAt < heartbeatMs) return;
    beatAt = now();
    say(options.style.dim(heartbeatText(view, { ...options, elapsedMs: now() - startedAt })));
  };

  return {
    on(event) {
      if (event.event === 'run-started') {
        startedAt = now();
        beatAt = startedAt;
        stopTicking();
        stopTicking = options.every?.(heartbeatMs, beat) ?? stopTicking;
      }
      const line = detail === 'events' ? eventLine(event, view, options) : steps.lineOf(event);
      if (line !== undefined) say(line);
      beat();
    },
    async end() {
      stopTicking();
      if (view.campaign !== '' && detail !== 'quiet') say(endText(view, view.end?.elapsedMs ?? now() - startedAt));
    },
  };
}

/** `213 of 500 done, 34 running · credits 1,182 spent · 4:12 · about 5–7 min left`, or what the run waits for. */
function heartbeatText(view: RunView, { now, page, times, elapsedMs }: LinesOptions & { elapsedMs: number }): string {
  if (view.awaitedGates !== undefined) return awaitedGatesText(view.awaitedGates, page?.());
  if (view.awaited !== undefined) return awaitedText(view.awaited, now());
  const remaining = times?.remaining?.();
  return [
    progressText(view, { isOver: false }),
    moneyRow(view.money, elapsedMs),
    ...(remaining === undefined ? [] : [remainingText(remaining)]),
  ].join(' · ');
}

/** Lines of a log about steps: that each has ended, or that another tenth of a task has. */
class StepLines {
  readonly #options: LinesOptions;
  /** Tenths of tasks that were told. */
  readonly #tenths = new Map<string, number>();

  constructor(options: LinesOptions) {
    this.#options = options;
  }

  lineOf(event: RunEvent): string | undefined {
    const { view, detail } = this.#options;
    switch (event.event) {
      case 'step-finished':
        return this.#finished(event);
      case 'spending-stopped':
        return eventLine(event, view, this.#options);
      case 'run-started':
      case 'job-retried':
      case 'create-searched':
      case 'job-found':
      case 'send-asked':
      case 'send-settled':
      case 'credits-awaited':
      case 'spending-resumed':
      case 'output-judged':
      case 'picks-awaited':
      case 'noticed':
        return detail === 'quiet' ? undefined : eventLine(event, view, this.#options);
      default:
        return undefined;
    }
  }

  #finished(event: Extract<RunEvent, { event: 'step-finished' }>): string | undefined {
    const { outcome, task } = event;
    if (isTrouble(outcome)) return eventLine(event, this.#options.view, this.#options);
    if (this.#options.detail === 'quiet') return undefined;
    if (this.#isLarge) return this.#tenth(task);
    return outcome === 'done' ? this.#done(event) : eventLine(event, this.#options.view, this.#options);
  }

  /** Steps that were up to date before have no lines. */
  get #isLarge(): boolean {
    const { steps, settled } = this.#options.view;
    return steps - (settled.stages.get('kept') ?? 0) > mostStepLines;
  }

  /** `hero@lamp  done  2 credits, 0:58, images/lamp.png (3 of 10)`. */
  #done({ address, credits, at }: Extract<RunEvent, { event: 'step-finished' }>): string {
    const { view, style } = this.#options;
    const step = view.lastEnded?.address === address ? view.lastEnded : undefined;
    const facts = [
      credits === null ? 'price unknown' : credits > 0 ? countOf(credits, 'credit') : '',
      step?.begunAt === undefined ? '' : elapsedText(Date.parse(at) - step.begunAt),
      safeText(step?.path ?? ''),
    ];
    const ended = [...view.settled.stages.values()].reduce((sum, count) => sum + count, 0);
    const detail = facts.filter((fact) => fact !== '').join(', ');
    return stepLine(address, style.green('done'), `${detail} (${ended} of ${view.steps})`);
  }

  #tenth(id: string): string | undefined {
    const task = this.#options.view.tasks.get(id);
    if (task === undefined) return undefined;
    const of = (...stages: ('done' | 'kept' | 'unneeded')[]) =>
      stages.reduce((sum, stage) => sum + (task.stages.get(stage) ?? 0), 0);
    const tenth = Math.floor((10 * of('done', 'kept', 'unneeded')) / task.steps);
    const before = this.#tenths.get(id) ?? Math.floor((10 * of('kept')) / task.steps);
    if (tenth <= before) return undefined;
    this.#tenths.set(id, tenth);
    const words = taskWords(task, { isOver: false }).map(({ text }) => text);
    return stepLine(id, this.#options.style.green(`${tenth * 10} %`), words.join(', '));
  }
}
