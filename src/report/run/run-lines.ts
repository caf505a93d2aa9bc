import { failedOutcomes, type RunEvent, type StepFinished, type StepOutcome } from '../../contract/event.ts';
import { active, bad, faint, good, type Span, type Text, warning } from '../document.ts';
import { bytesText, countOf, creditsText, elapsedText, spanText } from '../numbers.ts';
import { spendText } from '../plan/plan-facts.ts';
import { inlineText } from '../render/terminal-text.ts';
import { safeJson, safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import type { RunTimes } from './remaining-time.ts';
import { noticeText, type RunView, type StepView, settledText } from './run-view.ts';
import {
  awaitedGatesText,
  awaitedText,
  countSteps,
  endText,
  stoppingText,
  totalsText,
  waitTexts,
} from './run-words.ts';

export interface RunReporter {
  on(event: RunEvent): void;
  /** Called after the last event, or when the run is aborted. Resolves when nothing more will be written. */
  end(): Promise<void>;
}

/** Writes events unchanged as JSON Lines; `schemas/event.schema.json` describes a line. `end`: the output is closed. */
export function createEventLines(
  write: (text: string) => void,
  end: () => Promise<void> = async () => {},
): RunReporter {
  return { on: (event) => write(`${safeJson(event)}\n`), end };
}

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
/** Number of steps up to which each done step has a line. A larger run shows them in its heartbeats. */
const mostStepLines = 200;

/**
 * Log of a run for an output that cannot be redrawn: a line for each ended step and each failure, and the progress
 * every 30 s. A line starts with an address or with words of mediabatch, and has no control characters.
 */
export function createLines(write: (text: string) => void, options: LinesOptions): RunReporter {
  const { view, detail = 'steps', now, page } = options;
  let startedAt = now();
  let beatAt = startedAt;
  let stopTicking = () => {};

  const say = (line: string) => write(`${line}\n`);
  const beat = () => {
    if (detail === 'quiet' || now() - beatAt < heartbeatMs) return;
    beatAt = now();
    const [wait] = waitTexts(view, now(), page?.());
    const progress = { isOver: false, elapsedMs: now() - startedAt, remaining: options.times?.remaining?.() };
    say(options.style.dim(wait ?? totalsText(view, progress).join(' · ')));
  };

  return {
    on(event) {
      if (event.event === 'run-started') {
        startedAt = now();
        beatAt = startedAt;
        stopTicking();
        stopTicking = options.every?.(heartbeatMs, beat) ?? stopTicking;
      }
      const line = lineOf(event, view, { detail, page });
      if (line !== undefined) say(inlineText(line, options.style));
      beat();
    },
    async end() {
      stopTicking();
      if (view.campaign !== '' && detail !== 'quiet') say(endText(view, view.end?.elapsedMs ?? now() - startedAt));
    },
  };
}

/** Returns the line of an event that was just folded into the view. Undefined if it has none at this detail. */
export function lineOf(
  event: RunEvent,
  view: RunView,
  { detail, page }: { detail: Detail; page?: (() => string | undefined) | undefined },
): Text | undefined {
  if (detail === 'events') return eventLine(event, view, page);
  if (view.lastEnded !== undefined) {
    const { end, step } = view.lastEnded;
    if (detail !== 'steps' || isTrouble(end.outcome)) return isTrouble(end.outcome) ? endLine(end) : undefined;
    if (end.outcome !== 'done') return endLine(end);
    return view.steps - countSteps(view, 'kept') > mostStepLines ? undefined : doneLine(end, step, view);
  }
  switch (event.event) {
    case 'spending-stopped':
      return eventLine(event, view);
    case 'create-repeated':
      if (detail === 'quiet') return undefined;
      return Date.parse(event.at) === (event.throttled ? view.throttledAt : view.repeatedAt)
        ? eventLine(event, view)
        : undefined;
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
      return detail === 'quiet' ? undefined : eventLine(event, view, page);
    default:
      return undefined;
  }
}

/** Returns whether the failure is the step's own and not of a dependency, so that each failure is printed once. */
function isTrouble(outcome: StepOutcome): boolean {
  return failedOutcomes.includes(outcome);
}

/** Returns a line such as `hero@lamp  done  2 credits, 0:58, images/lamp.png (3 of 10)`. */
function doneLine({ address, credits, at }: StepFinished, step: StepView | undefined, view: RunView): Text {
  const facts = [
    credits === null ? 'price unknown' : credits > 0 ? countOf(credits, 'credit') : '',
    step?.begunAt === undefined ? '' : elapsedText(Date.parse(at) - step.begunAt),
    safeText(step?.files[0] ?? ''),
  ];
  const detail = facts.filter((fact) => fact !== '').join(', ');
  const ended = countSteps(view, 'done', 'kept', 'unneeded');
  return stepLine(address, good('done'), `${detail} (${creditsText(ended)} of ${creditsText(view.steps)})`);
}

/** Returns a line that begins with an address or with words of mediabatch; undefined if none is needed. */
function eventLine(event: RunEvent, view: RunView, page?: () => string | undefined): Text | undefined {
  if (view.lastEnded !== undefined) return endLine(view.lastEnded.end);
  switch (event.event) {
    case 'run-started':
      return `${safeText(event.campaign)}: ${countOf(event.steps, 'step')}, ${spendText(event.totals)} to spend, ${event.concurrency} at a time`;
    case 'step-started':
      return event.action === 'attach'
        ? stepLine(event.address, active('attached'), 'its job is running')
        : stepLine(event.address, active('started'), event.action);
    case 'create-repeated': {
      if (event.throttled) {
        return [
          warning('waiting'),
          `  the service limits requests (429); next request in ${secondsText(event.afterMs)}`,
        ];
      }
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
      const price =
        event.credits === null ? ', price unknown' : event.credits > 0 ? `, ${countOf(event.credits, 'credit')}` : '';
      return stepLine(event.address, active('created'), `job ${safeText(event.jobId, 48)}${price}`);
    }
    case 'job-retried':
      return stepLine(event.address, warning('failed'), `${safeText(event.error)}; another job is bought`);
    case 'file-uploaded': {
      const size = event.bytes === null ? '' : ` (${bytesText(event.bytes)})`;
      return stepLine(event.address, good('uploaded'), `${safeText(event.assetId, 48)}${size}`);
    }
    case 'output-saved': {
      const { path, bytes } = event.output;
      return stepLine(
        event.address,
        good(event.how === 'downloaded' ? 'saved' : event.how),
        `${safeText(path)} (${bytesText(bytes)})`,
      );
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
  const isCharged = isTrouble(outcome) && credits !== null && credits > 0;
  const detail = isCharged ? `${safeText(error).replace(/\.$/, '')}; charged ${creditsText(credits)}` : safeText(error);
  return word === undefined ? undefined : stepLine(address, word, detail);
}

function stepLine(address: string, word: Span, detail = ''): Text {
  return [`${safeText(address, 300)}  `, word, detail === '' ? '' : `  ${detail}`];
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
