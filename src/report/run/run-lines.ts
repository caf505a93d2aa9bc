import type { RunEvent, StepOutcome } from '../../contract/event.ts';
import { spanText } from '../age-text.ts';
import { bytesText, countOf } from '../numbers.ts';
import { spendText } from '../plan/plan-money.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { noticeText, settledText } from './notice-text.ts';
import type { RunReporter } from './run-reporter.ts';
import type { RunView } from './run-view.ts';
import { awaitedGatesText, awaitedText, endText, leftText, moneyRow, progressText, stoppingText } from './run-words.ts';

export interface LinesOptions {
  style: Style;
  /** Milliseconds since 1970. */
  now(): number;
  /** The fold of the run. The caller of `on` has folded the event in before. */
  view: RunView;
  /**
   * Calls `call` every `ms` until the returned function is called. This provides heartbeats even without events;
   * otherwise only events (a poll, a repeated create) trigger one.
   */
  every?(ms: number, call: () => void): () => void;
  /** The address at which outputs are looked at and judged during the run, once there is one. */
  page?(): string | undefined;
}

const heartbeatMs = 30_000;

/**
 * Log of a run: one line per change, a heartbeat when nothing has changed for 30 s, one line at the end. Each line
 * starts with an address or with our own words, and holds no control characters.
 */
export function createLines(write: (text: string) => void, options: LinesOptions): RunReporter {
  const { view } = options;
  let startedAt = options.now();
  let lastLineAt = startedAt;
  let stopTicking = () => {};

  const say = (line: string) => {
    lastLineAt = options.now();
    write(`${line}\n`);
  };
  const beat = () => {
    if (options.now() - lastLineAt < heartbeatMs) return;
    say(
      options.style.dim(
        view.awaitedGates === undefined
          ? `${progressText(view, { isOver: false })} · ${moneyRow(view.money, options.now() - startedAt)}`
          : awaitedGatesText(view.awaitedGates, options.page?.()),
      ),
    );
  };

  return {
    on(event) {
      if (event.event === 'run-started') {
        startedAt = options.now();
        stopTicking();
        stopTicking = options.every?.(heartbeatMs, beat) ?? stopTicking;
      }
      const line = lineOf(event, view, options);
      if (line === undefined) beat();
      else say(line);
    },
    async end() {
      stopTicking();
      if (view.campaign !== '') say(endText(view, view.end?.elapsedMs ?? options.now() - startedAt));
    },
  };
}

/** The change that an event means to a reader; undefined when it says nothing new. */
function lineOf(event: RunEvent, view: RunView, { style, page }: LinesOptions): string | undefined {
  switch (event.event) {
    case 'run-started':
      return `${safeText(event.campaign)}: ${startText(event)}`;
    case 'step-started':
      return event.action === 'attach'
        ? stepLine(event.address, style.cyan('attached'), 'its job is running')
        : undefined;
    case 'create-repeated': {
      const detail = `${safeText(event.because)}; the same key again in ${secondsText(event.afterMs)}`;
      return stepLine(event.address, style.yellow('repeated'), detail);
    }
    case 'create-searched': {
      const detail = `${safeText(event.because)}; the service's list is searched for its job`;
      return stepLine(event.address, style.yellow('searching'), detail);
    }
    case 'job-found':
      return stepLine(event.address, style.green('found'), `job ${safeText(event.jobId)} is in the service's list`);
    case 'send-asked':
      return stepLine(event.address, style.yellow('asking'), 'the answer to an earlier create of it was lost');
    case 'send-settled':
      return stepLine(event.address, style.yellow('asked'), safeText(settledText(event)));
    case 'job-created': {
      const left = leftText(view.money);
      const price =
        event.credits === null ? ', price unknown' : event.credits > 0 ? `, ${countOf(event.credits, 'credit')}` : '';
      const money = price === '' || left === '' ? '' : ` (${left})`;
      const detail = `job ${safeText(event.jobId, 48)}${price}${money}`;
      return stepLine(event.address, style.cyan('created'), detail);
    }
    case 'job-retried':
      return stepLine(event.address, style.yellow('failed'), `${safeText(event.error)}; it is bought again`);
    case 'file-uploaded': {
      const size = event.bytes === null ? '' : ` (${bytesText(event.bytes)})`;
      return stepLine(event.address, style.green('uploaded'), `${safeText(event.assetId, 48)}${size}`);
    }
    case 'output-saved': {
      const { path, bytes } = event.output;
      return stepLine(event.address, style.green(savedWord(event.how)), `${safeText(path)} (${bytesText(bytes)})`);
    }
    case 'step-finished': {
      const word = outcomeWord(event.outcome, style);
      return word === undefined ? undefined : stepLine(event.address, word, safeText(event.error ?? ''));
    }
    case 'credits-awaited':
      return `${style.yellow('paused')}  ${awaitedText(event, Date.parse(event.at))} (${safeText(event.detail)})`;
    case 'spending-resumed':
      return `${style.green('goes on')}  there are credits again, after ${spanText(event.waitedMs)}`;
    case 'spending-stopped':
      return `${style.yellow('stopped')}  ${stoppingText(event)}`;
    case 'output-judged':
      return stepLine(event.address, event.is === 'picked' ? style.green(event.is) : style.yellow(event.is), '');
    case 'picks-awaited':
      return style.yellow(awaitedGatesText(event.gates, page?.()));
    case 'noticed':
      return `${style.yellow('notice')}  ${safeText(noticeText(event))}`;
    case 'step-left':
    case 'create-intended':
    case 'job-progressed':
    case 'job-completed':
    case 'credits-changed':
    case 'run-ended':
      return undefined;
    default:
      return event satisfies never;
  }
}

function startText(event: Extract<RunEvent, { event: 'run-started' }>): string {
  const spending = spendText(event.totals);
  return `${countOf(event.steps, 'step')}, ${spending} to spend, ${event.concurrency} at a time`;
}

function stepLine(address: string, word: string, detail: string): string {
  return `${safeText(address, 300)}  ${word}${detail === '' ? '' : `  ${detail}`}`;
}

function savedWord(how: 'downloaded' | 'moved' | 'restored'): string {
  return how === 'downloaded' ? 'saved' : how;
}

/** Done steps were reported when their file was saved; those not started are counted at the end. */
function outcomeWord(outcome: StepOutcome, style: Style): string | undefined {
  switch (outcome) {
    case 'done':
    case 'left':
      return undefined;
    case 'unneeded':
      return style.dim('not needed');
    case 'failed':
    case 'refused':
    case 'lost':
      return style.red(outcome);
    case 'unresolved':
    case 'blocked':
      return style.yellow(outcome);
    case 'running':
      return style.yellow('still running');
    default:
      return outcome satisfies never;
  }
}

function secondsText(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
