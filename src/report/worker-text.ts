import { failedOutcomes, type NotForIt, newsName, type WorkerNews } from '../contract/engine-state.ts';
import type { Json } from '../ground/json.ts';
import { countOf, spanText } from './numbers.ts';
import { safeJson, safeText } from './safe-text.ts';
import type { Style } from './style.ts';

const longestError = 300;

export function workerLine(news: WorkerNews, { style, now }: { style: Style; now: number }): string {
  const { word, text } = wordsOf(news, style);
  const time = new Date(now).toISOString().replace(/\.\d+/, '');
  return `${style.dim(time)} ${word} ${safeText(text, 1000)}\n`;
}

const levels: Partial<Record<WorkerNews['is'], 'warn' | 'error'>> = {
  'not for it': 'warn',
  'no store': 'warn',
  'server away': 'warn',
  'put aside': 'error',
  'step failed': 'warn',
  'store full': 'error',
  failed: 'error',
};

export function workerJsonLine({ is, ...facts }: WorkerNews, { now }: { now: number }): string {
  const line = {
    at: new Date(now).toISOString(),
    level: levels[is] ?? 'info',
    event: newsName(is),
    ...facts,
  };
  return `${safeJson(line as Json)}\n`;
}

function wordsOf(news: WorkerNews, style: Style): { word: string; text: string } {
  const worker = style.green('worker');
  const leader = style.green('leader');
  switch (news.is) {
    case 'started':
      return { word: worker, text: startText(news) };
    case 'listening':
      return { word: worker, text: `serves /healthz and /readyz on port ${news.port}` };
    case 'head': {
      const { epoch, runs, waitMs } = news;
      const waits =
        waitMs > 0 ? `; unanswered creates of the last leader are searched in ${spanText(waitMs + 999)}` : '';
      return { word: leader, text: `of the account (epoch ${epoch}), ${countOf(runs, 'open run')}${waits}` };
    }
    case 'head left':
      return { word: news.why === 'taken over' ? style.yellow('leader') : leader, text: leftTexts[news.why] };
    case 'not for it':
      return {
        word: style.yellow('notice'),
        text: `open runs are not for this worker: ${notForItTexts[news.why]}`,
      };
    case 'no store':
      return {
        word: style.yellow('notice'),
        text: `${safeText(news.why, longestError)}: the worker starts when there is one`,
      };
    case 'server away':
      return {
        word: style.yellow('notice'),
        text: `the engine does not answer (${safeText(news.error, longestError)}): nothing is bought until it does`,
      };
    case 'server back':
      return { word: worker, text: 'the engine answers again' };
    case 'put aside': {
      return {
        word: style.red('error'),
        text: `${runText(news)} was set aside: ${safeText(news.error, longestError)}; next attempt in ${spanText(news.againAfterMs)}`,
      };
    }
    case 'run started':
      return { word: leader, text: `${runText(news)} started, ${countOf(news.steps, 'step')}` };
    case 'run ended': {
      const count = failedOutcomes.reduce((sum, outcome) => sum + (news.outcomes[outcome] ?? 0), 0);
      const failed = count === 0 ? '' : `, ${count} failed`;
      return {
        word: leader,
        text: `${runText(news)} ended (exit ${news.exit}), ${countOf(news.credits, 'credit')}${failed}`,
      };
    }
    case 'step failed': {
      const why = news.error === '' ? '' : `: ${safeText(news.error, longestError)}`;
      return {
        word: style.yellow('notice'),
        text: `${runText(news)}: ${news.address} ${news.outcome === 'running' ? 'not saved' : news.outcome}${why}`,
      };
    }
    case 'store full':
      return {
        word: style.red('error'),
        text: `${runText(news)}: nothing more is bought: ${safeText(news.error, longestError)}`,
      };
    case 'failed':
      return {
        word: style.red('error'),
        text: `${safeText(news.error, longestError)}; next attempt in ${spanText(news.againAfterMs)}`,
      };
    case 'leaving':
      return {
        word: worker,
        text: `ends (${news.because}): waits for the answers of ${countOf(news.creates, 'paid create')}; a second signal does not wait`,
      };
    case 'draining':
      return {
        word: worker,
        text: `ends (${news.because}) once no run of the account is open; a second signal hands over`,
      };
    case 'ending':
      return { word: worker, text: `ends: ${news.because}` };
    default:
      return news satisfies never;
  }
}

function runText({ run, campaign }: { run: string; campaign: string }): string {
  return `run ${run.slice(0, 8)} of ${campaign}`;
}

const leftTexts = {
  'no run is open': 'no longer: no run is open',
  'handed over': 'no longer: handed over',
  'taken over': 'no longer: another worker leads, or can take over. This worker sends nothing',
};

function startText({ worker, account, service, server, store, files }: Extract<WorkerNews, { is: 'started' }>): string {
  const hands = store === undefined ? 'fetches no files (no --store)' : `fetches files into ${store}, ${files} at once`;
  return `${worker} works on ${server} for account ${account.slice(0, 8)} at ${service}; ${hands}`;
}

const notForItTexts: { [why in NotForIt]: string } = {
  account: 'they have another MEDIABATCH_API_KEY or MEDIABATCH_BASE_URL',
  protocol: 'submitted by another version of mediabatch, which needs workers of that version',
  store: 'files go to a store that is not its --store',
};
