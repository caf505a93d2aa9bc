import type { EngineRun, EngineState, EngineWorker, NotRunnable, WorkerEvent } from '../../contract/engine-state.ts';
import { failedOutcomes } from '../../contract/event.ts';
import {
  type Block,
  bad,
  type Document,
  faint,
  good,
  line,
  listOf,
  stack,
  strong,
  type Text,
  warning,
} from '../document.ts';
import { countCell, countOf, limitText, spanText } from '../numbers.ts';
import { safeJson, safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';

export function workersView(state: EngineState): Document {
  const limits = state.accounts.map(({ id, limit }) =>
    limit === undefined ? undefined : line(`limit of account ${id.slice(0, 8)}: ${limitText(limit)}`),
  );
  return [runsTable(state.runs), workersTable(state.workers), stack(...limits), ...troublesView(state)];
}

function runsTable(runs: readonly EngineRun[]): Block {
  return listOf(runs, [
    { title: 'campaign', least: 12, of: ({ campaign }) => strong(campaign) },
    { title: 'state', of: stateCell },
    { title: 'done', align: 'right', of: ({ steps }) => `${steps.done} of ${steps.of}` },
    { title: 'failed', align: 'right', of: ({ steps }) => bad(countCell(steps.failed)) },
    { title: 'waiting', align: 'right', of: ({ steps }) => countCell(steps.waiting) },
    { title: 'left', align: 'right', of: ({ steps }) => countCell(steps.left) },
    { title: 'credits', align: 'right', of: ({ credits }) => countCell(credits ?? 0) },
    { title: 'submitted', of: ({ submittedMs }) => `${spanText(submittedMs)} ago` },
    { title: 'from', least: 12, of: ({ host, manifest }) => `${host}:${manifest}` },
    { title: 'account', of: ({ account }) => account.slice(0, 8) },
    { title: 'run', of: ({ id }) => id.slice(0, 8) },
  ]);
}

function stateCell({ state, exit, endedMs, error, cancelled, paused }: EngineRun): Text {
  if (error !== undefined && state !== 'ended') return bad('deferred');
  if (state !== 'ended') {
    const act = cancelled ?? paused;
    const who = act === undefined || act.by === '' ? '' : `${act.by}, `;
    const by = act === undefined ? '' : ` (${who}${spanText(act.ageMs)} ago)`;
    return (state === 'open' ? good : warning)(`${state}${by}`);
  }
  const text = `ended ${spanText(endedMs ?? 0)} ago${exit === undefined || exit === 0 ? '' : ` (exit ${exit})`}`;
  return (exit === 0 ? faint : warning)(text);
}

function workersTable(workers: readonly EngineWorker[]): Block {
  return listOf(workers, [
    { title: 'worker', least: 12, of: ({ host, pid }) => `${host} ${pid}` },
    { title: 'is', of: roleCell },
    { title: 'files', align: 'right', of: ({ files }) => countCell(files) },
    { title: 'account', of: ({ account }) => account.slice(0, 8) },
    { title: 'version', of: ({ version }) => version },
    {
      title: 'last seen',
      of: ({ isSilent, beatMs }) => (isSilent ? bad(`${spanText(beatMs)} ago`) : `${spanText(beatMs)} ago`),
    },
  ]);
}

function roleCell({ isHead, isSilent, files }: EngineWorker): Text {
  if (isSilent) return bad('silent');
  const words = [...(isHead ? ['leader'] : []), ...(files > 0 ? ['fetch'] : [])];
  const role = words.length === 0 ? 'waiting' : words.join(', ');
  return isHead ? good(role) : role;
}

export function troublesView(state: EngineState): Document {
  return [
    stack(...troublesOf(state).map(({ is, text }) => line([is === 'error' ? bad(is) : warning(is), ` ${text}`]))),
  ];
}

export function troublesOf({ runs, accounts }: EngineState): { is: 'error' | 'notice'; text: string }[] {
  const troubles: { is: 'error' | 'notice'; text: string }[] = [];
  for (const { id, error } of accounts) {
    if (error !== undefined)
      troubles.push({ is: 'error', text: `leader of account ${id.slice(0, 8)}: ${safeText(error, 300)}` });
  }
  for (const { id, campaign, error, state } of runs) {
    if (error === undefined || state === 'ended') continue;
    const text = `run ${id.slice(0, 8)} of ${campaign} was deferred and is retried each minute: ${error}`;
    troubles.push({ is: 'error', text: safeText(text, 400) });
  }
  for (const { lacks, ...run } of runs) {
    if (lacks !== undefined) troubles.push({ is: 'notice', text: safeText(lackText(run, lacks), 400) });
  }
  return troubles;
}

function lackText({ id, campaign, account }: EngineRun, lacks: NonNullable<EngineRun['lacks']>): string {
  const run = `run ${id.slice(0, 8)} of ${campaign} waits`;
  switch (lacks) {
    case 'worker':
      return `${run}: no worker is ready for account ${account.slice(0, 8)}`;
    case 'version':
      return `${run}: no worker has the version of mediabatch that submitted the run`;
    case 'store':
      return `${run}: no worker has the store of the run; start a worker with the same --store as \`apply\``;
    case 'leader':
      return `${run}: no worker leads account ${account.slice(0, 8)}`;
    default:
      return lacks satisfies never;
  }
}

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
    case 'leader':
      return ['leader', leaderText(news)];
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

function leaderText({ epoch, runs, waitMs }: Extract<WorkerEvent, { event: 'leader' }>): string {
  const waits =
    waitMs > 0
      ? `; the leader searches for unanswered create requests of the last leader in ${spanText(waitMs + 999)}`
      : '';
  return `of the account (epoch ${epoch}), ${countOf(runs, 'open run')}${waits}`;
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
  account: 'the runs use another MEDIABATCH_API_KEY or MEDIABATCH_BASE_URL',
  protocol: 'another version of mediabatch submitted the runs, and only its workers can execute them',
  store: 'the files of the runs go to another store than the --store of this worker',
};
