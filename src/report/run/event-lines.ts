import type { RunEvent, StepOutcome } from '../../contract/event.ts';
import { spanText } from '../age-text.ts';
import { bytesText, countOf } from '../numbers.ts';
import { spendText } from '../plan/plan-money.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { noticeText, settledText } from './notice-text.ts';
import type { RunView } from './run-view.ts';
import { awaitedGatesText, awaitedText, leftText, stoppingText } from './run-words.ts';

export interface EventLineOptions {
  style: Style;
  /** The address at which outputs are looked at and judged during the run, once there is one. */
  page?(): string | undefined;
}

/** An event on one line, which begins with an address or with our own words; undefined when it says nothing of its own. */
export function eventLine(event: RunEvent, view: RunView, { style, page }: EventLineOptions): string | undefined {
  switch (event.event) {
    case 'run-started':
      return `${safeText(event.campaign)}: ${startText(event)}`;
    case 'step-started':
      return event.action === 'attach'
        ? stepLine(event.address, style.cyan('attached'), 'its job is running')
        : stepLine(event.address, style.cyan('started'), event.action);
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
    case 'create-intended':
      return stepLine(event.address, style.dim('sending'), '');
    case 'job-progressed':
      return stepLine(event.address, style.dim('is'), safeText(event.status, 60));
    case 'job-completed':
      return stepLine(event.address, style.cyan('made'), 'its file is fetched');
    case 'step-left':
      return event.action === 'keep'
        ? undefined
        : stepLine(event.address, style.yellow('left'), safeText(event.reason));
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

export function stepLine(address: string, word: string, detail: string): string {
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
