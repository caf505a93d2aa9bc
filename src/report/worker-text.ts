import type { NotRunnable, WorkerEvent } from '../contract/engine-state.ts';
import { failedOutcomes } from '../contract/event.ts';
import { countOf, spanText } from './numbers.ts';
import { safeJson, safeText } from './safe-text.ts';
import type { Style } from './style.ts';

export function workerLine(news: WorkerEvent, { style, now }: { style: Style; now: number }): string {
  const [word, text] = wordsOf(news);
  const paint = { info: style.green, warn: style.yellow, error: style.red }[levelOf(news)];
  const time = new Date(now).toISOString().replace(/\.\d+/, '');
  return `${style.dim(time)} ${paint(word)} ${safeText(text, 1000)}\n`;
}

type Level = 'info' | 'warn' | 'error';

const levels: Partial<Record<WorkerEvent['event'], Level>> = {
  'not-runnable': 'warn',
  'no-store': 'warn',
  'server-away': 'warn',
  'run-deferred': 'error',
  'step-failed': 'warn',
  'store-full': 'error',
  failed: 'error',
};

function levelOf({ event }: WorkerEvent): Level {
  return levels[event] ?? 'info';
}

export function workerJsonLine(news: WorkerEvent, { now }: { now: number }): string {
  return `${safeJson({ at: new Date(now).toISOString(), level: levelOf(news), ...news })}\n`;
}

function wordsOf(news: WorkerEvent): [word: string, text: string] {
  switch (news.event) {
    case 'started':
      return ['worker', startText(news)];
    case 'listening':
      return ['worker', `serves /healthz and /readyz on port ${news.port}`];
    case 'leader': {
      const { epoch, runs, waitMs } = news;
      const waits =
        waitMs > 0
          ? `; the leader searches for unanswered create requests of the last leader in ${spanText(waitMs + 999)}`
          : '';
      return ['leader', `of the account (epoch ${epoch}), ${countOf(runs, 'open run')}${waits}`];
    }
    case 'leader-left':
      return ['leader', `no longer: ${leftTexts[news.why]}`];
    case 'not-runnable':
      return ['notice', `this worker cannot execute some open runs: ${notRunnableTexts[news.why]}`];
    case 'no-store':
      return ['notice', `${errorText(news.why)}: the worker starts when the store can be used`];
    case 'server-away':
      return [
        'notice',
        `the engine does not answer (${errorText(news.error)}): nothing is bought until the engine answers`,
      ];
    case 'server-back':
      return ['worker', 'the engine answers again'];
    case 'run-deferred':
      return [
        'error',
        `${runText(news)} was deferred: ${errorText(news.error)}; next attempt in ${spanText(news.againAfterMs)}`,
      ];
    case 'run-started':
      return ['leader', `${runText(news)} started, ${countOf(news.steps, 'step')}`];
    case 'run-ended': {
      const count = failedOutcomes.reduce((sum, outcome) => sum + (news.outcomes[outcome] ?? 0), 0);
      const failed = count === 0 ? '' : `, ${count} failed`;
      return ['leader', `${runText(news)} ended (exit ${news.exit}), ${countOf(news.credits, 'credit')}${failed}`];
    }
    case 'step-failed': {
      const why = news.error === '' ? '' : `: ${errorText(news.error)}`;
      return [
        'notice',
        `${runText(news)}: ${news.address} ${news.outcome === 'running' ? 'not saved' : news.outcome}${why}`,
      ];
    }
    case 'store-full':
      return ['error', `${runText(news)}: nothing more is bought: ${errorText(news.error)}`];
    case 'failed':
      return ['error', `${errorText(news.error)}; next attempt in ${spanText(news.againAfterMs)}`];
    case 'leaving':
      return [
        'worker',
        `ends (${news.because}): waits for the answers of ${countOf(news.creates, 'paid create request')}; a second signal ends the worker at once`,
      ];
    case 'draining':
      return ['worker', `ends (${news.because}) once no run of the account is open; a second signal hands over`];
    case 'ending':
      return ['worker', `ends: ${news.because}`];
    default:
      return news satisfies never;
  }
}

function errorText(error: string): string {
  return safeText(error, 300);
}

function runText({ run, campaign }: { run: string; campaign: string }): string {
  return `run ${run.slice(0, 8)} of ${campaign}`;
}

const leftTexts = {
  'no run is open': 'no run is open',
  'handed over': 'handed over',
  'taken over': 'another worker leads, or can take over. This worker sends nothing',
};

function startText(news: Extract<WorkerEvent, { event: 'started' }>): string {
  const { worker, account, service, server, store, files } = news;
  const fetches =
    store === undefined ? 'fetches no files (no --store)' : `fetches files into ${store}, ${files} at once`;
  return `${worker} works on ${server} for account ${account.slice(0, 8)} at ${service}; ${fetches}`;
}

const notRunnableTexts: { [why in NotRunnable]: string } = {
  account: 'they use another MEDIABATCH_API_KEY or MEDIABATCH_BASE_URL',
  protocol: 'they were submitted by another version of mediabatch, and need workers of that version',
  store: 'their files go to another store than the --store of this worker',
};
