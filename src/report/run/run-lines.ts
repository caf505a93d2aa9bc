import { failedOutcomes, type RunEvent, type StepOutcome } from '../../contract/event.ts';
import { active, bad, faint, good, type Span, type Text, warning } from '../document.ts';
import { bytesText, countOf, creditsText, elapsedText, spanText } from '../numbers.ts';
import { spendText } from '../plan/plan-facts.ts';
import { inlineText } from '../render/terminal-text.ts';
import { safeJson, safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import type { RunTimes } from './remaining-time.ts';
import { noticeText, type RunView, settledText } from './run-view.ts';
import { awaitedGatesText, awaitedText, countSteps, stoppingText, totalsText, waitTexts } from './run-words.ts';

export interface RunReporter {
  on(event: RunEvent): void;
  /** Ends the output after the last event, or when the run is aborted. Resolves when everything is written. */
  end(): Promise<void>;
}

/** Writes events as JSON Lines, as in `schemas/event.schema.json`. `end` closes the output. */
export function createEventLines(
  write: (text: string) => void,
  end: () => Promise<void> = async () => {},
): RunReporter {
  return { on: (event) => write(`${safeJson(event)}\n`), end };
}

/**
 * Events to print. `quiet`: failures. `screen`: failures, and events that the run screen does not show. `steps`: also
 * each step that has ended. `events`: all events.
 */
export type Detail = 'quiet' | 'screen' | 'steps' | 'events';

interface LinesOptions {
  style: Style;
  page?(): string | undefined;
  now(): number;
  /** View of the run. The caller folds each event into the view before it calls `on`. */
  view: RunView;
  /** Defaults to `steps`. */
  detail?: Detail;
  times?: RunTimes | undefined;
  /** Calls `call` every `ms` until the returned function is called. If omitted, heartbeats follow events only. */
  every?(ms: number, call: () => void): () => void;
}

const heartbeatMs = 30_000;
/**
 * In a run of at most this many steps, each finished step has a line of its own. In a larger run, the heartbeats count
 * the finished steps.
 */
const mostStepLines = 200;

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
    const progress = { isOver: false, elapsedMs: now() - startedAt, remaining: options.times?.() };
    say(options.style.dim(wait ?? totalsText(view, progress).join(' · ')));
  };

  return {
    on(event) {
      if (event.event === 'run-started') {
        startedAt = now();
        beatAt = startedAt;
        stopTicking();
        stopTicking = options.every?.(heartbeatMs, beat) ?? stopTicking;
        if (detail !== 'quiet') say(startText(event));
      }
      const line = lineOf(event, view, { detail, page });
      if (line !== undefined) say(inlineText(line, options.style));
      beat();
    },
    end: async () => stopTicking(),
  };
}

function startText({ campaign, steps, totals, concurrency }: Extract<RunEvent, { event: 'run-started' }>): string {
  return `${safeText(campaign)}: ${countOf(steps, 'step')}, ${spendText(totals)} to spend, ${concurrency} at a time`;
}

export function lineOf(
  event: RunEvent,
  view: RunView,
  { detail, page }: { detail: Detail; page?: (() => string | undefined) | undefined },
): Text | undefined {
  if (view.lastEnded !== undefined) return endLine(view.lastEnded, view, detail);
  if (event.event === 'spending-stopped') return [warning('stopped'), `  ${stoppingText(event)}`];
  if (detail === 'quiet') return undefined;
  return newsLine(event, view, page) ?? (detail === 'events' ? progressLine(event) : undefined);
}

function newsLine(event: RunEvent, view: RunView, page?: () => string | undefined): Text | undefined {
  switch (event.event) {
    case 'create-repeated': {
      if (Date.parse(event.at) !== view.repeatedAt) return undefined;
      const after = secondsText(event.afterMs);
      if (event.throttled) return [warning('waiting'), `  the service limits requests (429); next request in ${after}`];
      return stepLine(event.address, warning('repeated'), `${event.because}; retrying with the same key in ${after}`);
    }
    case 'create-searched':
      return stepLine(
        event.address,
        warning('searching'),
        `${event.because}; searching the job list of the service for its job`,
      );
    case 'job-found':
      return stepLine(event.address, good('found'), `job ${event.jobId} is in the job list of the service`);
    case 'send-asked':
      return stepLine(
        event.address,
        warning('checking'),
        'the answer to an earlier create request of this step was lost',
      );
    case 'send-settled':
      return stepLine(event.address, warning('checked'), settledText(event));
    case 'job-retried':
      return stepLine(event.address, warning('failed'), `${event.error}; another job is bought`);
    case 'credits-awaited':
      return [warning('paused'), `  ${awaitedText(event, Date.parse(event.at))} (${safeText(event.detail)})`];
    case 'spending-resumed':
      return [good('resumed'), `  the account has credits again, after ${spanText(event.waitedMs)}`];
    case 'output-judged':
      return stepLine(event.address, event.is === 'picked' ? good(event.is) : warning(event.is));
    case 'picks-awaited':
      return warning(awaitedGatesText(event.gates, page?.()));
    case 'noticed':
      return [warning('notice'), `  ${safeText(noticeText(event))}`];
    default:
      return undefined;
  }
}

function progressLine(event: RunEvent): Text | undefined {
  switch (event.event) {
    case 'step-started':
      return event.action === 'attach'
        ? stepLine(event.address, active('attached'), 'its job is running')
        : stepLine(event.address, active('started'), event.action);
    case 'step-left':
      return event.action === 'keep' ? undefined : stepLine(event.address, warning('skipped'), event.reason);
    case 'create-intended':
      return stepLine(event.address, faint('sending'));
    case 'job-created':
      return stepLine(event.address, active('created'), `job ${event.jobId}${chargeText(event.credits, ', ')}`);
    case 'job-progressed':
      return stepLine(event.address, faint('status'), event.status);
    case 'job-completed':
      return stepLine(event.address, active('completed'), 'downloading its file');
    case 'file-uploaded': {
      const size = event.bytes === null ? '' : ` (${bytesText(event.bytes)})`;
      return stepLine(event.address, good('uploaded'), `${event.assetId}${size}`);
    }
    case 'output-saved': {
      const { path, bytes } = event.output;
      const word = event.how === 'downloaded' ? 'saved' : event.how;
      return stepLine(event.address, good(word), `${path} (${bytesText(bytes)})`);
    }
    default:
      return undefined;
  }
}

/** Returns the line for the end of a step: for a failure at every level of detail, for an unstarted step never. */
function endLine({ end, step }: NonNullable<RunView['lastEnded']>, view: RunView, detail: Detail): Text | undefined {
  const { address, outcome, unsaved, credits, error = '' } = end;
  if (failedOutcomes.includes(outcome)) {
    const charged = credits !== null && credits > 0 ? `; charged ${creditsText(credits)}` : '';
    const word = outcome === 'unresolved' ? warning(outcome) : bad(outcome);
    return stepLine(address, word, charged === '' ? error : `${error.replace(/\.$/, '')}${charged}`);
  }
  if (detail === 'quiet' || detail === 'screen' || outcome === 'left') return undefined;
  if (outcome !== 'done')
    return stepLine(address, unsaved ? warning('not saved') : (endWords[outcome] ?? outcome), error);
  if (view.steps - countSteps(view, 'kept') > mostStepLines) return undefined;
  const took = step?.begunAt === undefined ? '' : elapsedText(Date.parse(end.at) - step.begunAt);
  const facts = [chargeText(credits), took, step?.files[0] ?? ''].filter((fact) => fact !== '').join(', ');
  const ended = countSteps(view, 'done', 'kept', 'unneeded');
  return stepLine(address, good('done'), `${facts} (${creditsText(ended)} of ${creditsText(view.steps)})`);
}

const endWords: { readonly [outcome in StepOutcome]?: Span } = {
  blocked: warning('blocked'),
  running: warning('still running'),
  unneeded: faint('not needed'),
};

function chargeText(credits: number | null, before = ''): string {
  if (credits === null) return `${before}price unknown`;
  return credits > 0 ? `${before}${countOf(credits, 'credit')}` : '';
}

function stepLine(address: string, word: Span, detail = ''): Text {
  return [`${safeText(address, 300)}  `, word, detail === '' ? '' : `  ${safeText(detail)}`];
}

function secondsText(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
