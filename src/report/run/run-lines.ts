import type { RunEvent, StepFinished, StepOutcome } from '../../contract/event.ts';
import { active, bad, faint, good, type Span, type Text, warning } from '../document.ts';
import { bytesText, countOf, creditsText, elapsedText, spanText } from '../numbers.ts';
import { spendText } from '../plan/plan-facts.ts';
import { inlineText } from '../render/spans.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import type { RunReporter, RunTimes } from './run-time.ts';
import type { RunView, StepView } from './run-view.ts';
import {
  askedWaitText,
  awaitedGatesText,
  awaitedText,
  doneIn,
  endText,
  leftText,
  noticeText,
  settledText,
  stoppingText,
  taskWords,
  totalsText,
  waitTexts,
} from './run-words.ts';
import { isTrouble } from './troubles.ts';

/**
 * Which events are printed. `quiet`: only failures; `screen`: also what a screen does not show; `steps`: also ended
 * steps; `events`: everything.
 */
export type Detail = 'quiet' | 'screen' | 'steps' | 'events';

interface LinesOptions {
  style: Style;
  page?(): string | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  /** View of the run. The caller of `on` has folded the event into it before. */
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
/** Limit of steps up to which each has a line; a larger run has a line for each tenth of a task. */
const mostStepLines = 200;

/**
 * Log of a run for an output that cannot be redrawn: a line for each ended step, or in a large run for each tenth of
 * a task; every failure; the progress every 30 s. A line starts with an address or with words of mediabatch, and has
 * no control characters.
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
      const line = detail === 'events' ? eventLine(event, view, options.page) : steps.lineOf(event);
      if (line !== undefined) say(inlineText(line, options.style));
      beat();
    },
    async end() {
      stopTicking();
      if (view.campaign !== '' && detail !== 'quiet') say(endText(view, view.end?.elapsedMs ?? now() - startedAt));
    },
  };
}

/** Returns progress like `213 of 500 done, 34 running · credits 1,182 spent · 4:12`, or what the run waits for. */
function heartbeatText(view: RunView, { now, page, times, elapsedMs }: LinesOptions & { elapsedMs: number }): string {
  const [wait] = waitTexts(view, now(), page?.());
  return wait ?? totalsText(view, { isOver: false, elapsedMs, remaining: times?.remaining?.() }).join(' · ');
}

/** Chooses the events that get a line. */
export class StepLines {
  readonly #options: Omit<LinesOptions, 'times'>;
  #askedUntil = 0;
  #repeatedAt = Number.NEGATIVE_INFINITY;
  /** Number of tenths that were printed, by task. */
  readonly #tenths = new Map<string, number>();

  constructor(options: Omit<LinesOptions, 'times'>) {
    this.#options = options;
  }

  lineOf(event: RunEvent): Text | undefined {
    const { view, detail = 'steps' } = this.#options;
    if (view.lastEnded !== undefined) return this.#ended(view.lastEnded);
    switch (event.event) {
      case 'spending-stopped':
        return eventLine(event, view);
      case 'create-repeated':
        return detail === 'quiet' ? undefined : this.#repeated(event);
      case 'run-started':
        return detail === 'steps' ? eventLine(event, view) : undefined;
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
        return detail === 'quiet' ? undefined : eventLine(event, view, this.#options.page);
      default:
        return undefined;
    }
  }

  /** Most repetitions have one cause: a wait that the service requests, or its trouble. Printed once a minute. */
  #repeated(event: Extract<RunEvent, { event: 'create-repeated' }>): Text | undefined {
    const { view, now, detail } = this.#options;
    if (!event.throttled) {
      if (now() < this.#repeatedAt + 60_000) return undefined;
      this.#repeatedAt = now();
      return eventLine(event, view);
    }
    if (detail === 'screen') return undefined;
    const text = askedWaitText(view, now());
    const until = view.askedUntil ?? 0;
    if (text === '' || until < this.#askedUntil + 60_000) return undefined;
    this.#askedUntil = until;
    return [warning('paused'), `  ${text}`];
  }

  #ended({ end, step }: NonNullable<RunView['lastEnded']>): Text | undefined {
    if (isTrouble(end.outcome)) return endLine(end);
    if ((this.#options.detail ?? 'steps') !== 'steps') return undefined;
    if (this.#isLarge) return this.#tenth(end.task);
    return end.outcome === 'done' ? this.#done(end, step) : endLine(end);
  }

  /** Returns whether the run is large. Steps that were up to date before have no lines, so they do not count. */
  get #isLarge(): boolean {
    const { steps, settled } = this.#options.view;
    return steps - (settled.stages.get('kept') ?? 0) > mostStepLines;
  }

  /** Line like `hero@lamp  done  2 credits, 0:58, images/lamp.png (3 of 10)`. */
  #done({ address, credits, at }: StepFinished, step: StepView | undefined): Text {
    const { view } = this.#options;
    const facts = [
      credits === null ? 'price unknown' : credits > 0 ? countOf(credits, 'credit') : '',
      step?.begunAt === undefined ? '' : elapsedText(Date.parse(at) - step.begunAt),
      safeText(step?.files[0] ?? ''),
    ];
    const ended = [...view.tasks.values()].reduce((sum, task) => sum + doneIn(task), 0);
    const detail = facts.filter((fact) => fact !== '').join(', ');
    return stepLine(address, good('done'), `${detail} (${creditsText(ended)} of ${creditsText(view.steps)})`);
  }

  #tenth(id: string): Text | undefined {
    const task = this.#options.view.tasks.get(id);
    if (task === undefined) return undefined;
    const tenth = Math.floor((10 * doneIn(task)) / task.steps);
    const before = this.#tenths.get(id) ?? Math.floor((10 * (task.stages.get('kept') ?? 0)) / task.steps);
    if (tenth <= before) return undefined;
    this.#tenths.set(id, tenth);
    const words = taskWords(task, { isOver: false });
    return stepLine(id, good(`${tenth * 10} %`), words.join(', '));
  }
}

/** Returns a line that begins with an address or with words of mediabatch; undefined if none is needed. */
function eventLine(event: RunEvent, view: RunView, page?: () => string | undefined): Text | undefined {
  if (view.lastEnded !== undefined) return endLine(view.lastEnded.end);
  switch (event.event) {
    case 'run-started':
      return `${safeText(event.campaign)}: ${startText(event)}`;
    case 'step-started':
      return event.action === 'attach'
        ? stepLine(event.address, active('attached'), 'its job is running')
        : stepLine(event.address, active('started'), event.action);
    case 'create-repeated': {
      const detail = `${safeText(event.because)}; the same key again in ${secondsText(event.afterMs)}`;
      return stepLine(event.address, warning('repeated'), detail);
    }
    case 'create-searched': {
      const detail = `${safeText(event.because)}; the service's list is searched for its job`;
      return stepLine(event.address, warning('searching'), detail);
    }
    case 'job-found':
      return stepLine(event.address, good('found'), `job ${safeText(event.jobId)} is in the service's list`);
    case 'send-asked':
      return stepLine(event.address, warning('checking'), 'the answer to an earlier create of this step was lost');
    case 'send-settled':
      return stepLine(event.address, warning('checked'), safeText(settledText(event)));
    case 'job-created': {
      const left = leftText(view.money);
      const price =
        event.credits === null ? ', price unknown' : event.credits > 0 ? `, ${countOf(event.credits, 'credit')}` : '';
      const money = price === '' || left === '' ? '' : ` (${left})`;
      const detail = `job ${safeText(event.jobId, 48)}${price}${money}`;
      return stepLine(event.address, active('created'), detail);
    }
    case 'job-retried':
      return stepLine(event.address, warning('failed'), `${safeText(event.error)}; another job is bought`);
    case 'file-uploaded': {
      const size = event.bytes === null ? '' : ` (${bytesText(event.bytes)})`;
      return stepLine(event.address, good('uploaded'), `${safeText(event.assetId, 48)}${size}`);
    }
    case 'output-saved': {
      const { path, bytes } = event.output;
      return stepLine(event.address, good(savedWord(event.how)), `${safeText(path)} (${bytesText(bytes)})`);
    }
    case 'credits-awaited':
      return [warning('paused'), `  ${awaitedText(event, Date.parse(event.at))} (${safeText(event.detail)})`];
    case 'spending-resumed':
      return [good('resumed'), `  the account has credits again, after ${spanText(event.waitedMs)}`];
    case 'spending-stopped':
      return [warning('stopped'), `  ${stoppingText(event)}`];
    case 'output-judged':
      return stepLine(event.address, event.is === 'picked' ? good(event.is) : warning(event.is));
    case 'picks-awaited':
      return warning(awaitedGatesText(event.gates, page?.()));
    case 'noticed':
      return [warning('notice'), `  ${safeText(noticeText(event))}`];
    case 'create-intended':
      return stepLine(event.address, faint('sending'));
    case 'job-progressed':
      return stepLine(event.address, faint('status'), safeText(event.status, 60));
    case 'job-completed':
      return stepLine(event.address, active('completed'), 'downloading its file');
    case 'step-left':
      return event.action === 'keep' ? undefined : stepLine(event.address, warning('skipped'), safeText(event.reason));
    default:
      return undefined;
  }
}

function endLine({ address, unsaved, outcome, credits, error = '' }: StepFinished): Text | undefined {
  const word = unsaved ? warning('not saved') : outcomeWord(outcome);
  const charged = isTrouble(outcome) && credits !== null && credits > 0 ? `; charged ${creditsText(credits)}` : '';
  return word === undefined ? undefined : stepLine(address, word, `${safeText(error)}${charged}`);
}

function startText(event: Extract<RunEvent, { event: 'run-started' }>): string {
  const spending = spendText(event.totals);
  return `${countOf(event.steps, 'step')}, ${spending} to spend, ${event.concurrency} at a time`;
}

function stepLine(address: string, word: Span, detail = ''): Text {
  return [`${safeText(address, 300)}  `, word, detail === '' ? '' : `  ${detail}`];
}

function savedWord(how: 'downloaded' | 'moved' | 'restored'): string {
  return how === 'downloaded' ? 'saved' : how;
}

/** Returns undefined for done steps, reported when saved, and for steps not started, counted at the end. */
function outcomeWord(outcome: StepOutcome): Span | undefined {
  switch (outcome) {
    case 'done':
    case 'left':
      return undefined;
    case 'unneeded':
      return faint('not needed');
    case 'failed':
    case 'refused':
    case 'lost':
      return bad(outcome);
    case 'unresolved':
    case 'blocked':
      return warning(outcome);
    case 'running':
      return warning('still running');
    default:
      return outcome satisfies never;
  }
}

function secondsText(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
