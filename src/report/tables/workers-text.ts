import type { EngineAccount, EngineRun, EngineState, EngineWorker } from '../../contract/engine-state.ts';
import type { Json } from '../../ground/json.ts';
import { limitText, spanText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { type Cell, tableText } from './table.ts';

interface TextOptions {
  style: Style;
  width?: number;
}

/** Runs, workers and what is wrong, of an engine. */
export function workersText(state: EngineState, options: TextOptions): string {
  const { runs, accounts, workers } = state;
  const parts = [
    runsText(runs, options),
    workersTable(workers, options),
    limitsText(accounts),
    troublesText(state, options.style),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

export function workersJson({ runs, accounts, workers }: EngineState): Json {
  const plain = { runs, accounts, workers } as unknown as { [name: string]: Json };
  return { mediabatch: 'workers', version: 1, ...plain };
}

function runsText(runs: readonly EngineRun[], options: TextOptions): string {
  const columns = [
    { title: 'campaign', least: 12 },
    { title: 'state' },
    ...['done', 'failed', 'waiting', 'left', 'credits'].map((title) => ({ title, align: 'right' as const })),
    { title: 'submitted' },
    { title: 'from', least: 12 },
    { title: 'account' },
    { title: 'run' },
  ];
  const cells = runs.map((run) => [
    { text: run.campaign, paint: options.style.bold },
    stateCell(run, options.style),
    `${run.steps.done} of ${run.steps.of}`,
    { text: numberText(run.steps.failed), paint: options.style.red },
    numberText(run.steps.waiting),
    numberText(run.steps.left),
    numberText(run.credits),
    `${spanText(run.submittedMs)} ago`,
    `${run.host}:${run.manifest}`,
    run.account.slice(0, 8),
    run.id.slice(0, 8),
  ]);
  return tableText(columns, cells, options);
}

/** Zero and unknown are empty, so that the other numbers stand out. */
function numberText(value = 0): string {
  return value === 0 ? '' : String(value);
}

function stateCell({ state, exit, endedMs, error, cancelled, paused }: EngineRun, style: Style): Cell {
  if (error !== undefined && state !== 'ended') return { text: 'put aside', paint: style.red };
  if (state !== 'ended') {
    const act = cancelled ?? paused;
    const who = act === undefined || act.by === '' ? '' : `${act.by}, `;
    const by = act === undefined ? '' : ` (${who}${spanText(act.ageMs)} ago)`;
    return { text: `${state}${by}`, paint: state === 'open' ? style.green : style.yellow };
  }
  const text = `ended ${spanText(endedMs ?? 0)} ago${exit === undefined || exit === 0 ? '' : ` (exit ${exit})`}`;
  return { text, paint: exit === 0 ? style.dim : style.yellow };
}

function workersTable(workers: readonly EngineWorker[], options: TextOptions): string {
  const columns = [
    { title: 'worker', least: 12 },
    { title: 'is' },
    { title: 'files', align: 'right' as const },
    { title: 'account' },
    { title: 'version' },
    { title: 'heard of' },
  ];
  const cells = workers.map((worker) => [
    `${worker.host} ${worker.pid}`,
    roleCell(worker, options.style),
    worker.files === 0 ? '' : String(worker.files),
    worker.account.slice(0, 8),
    worker.version,
    {
      text: `${spanText(worker.beatMs)} ago`,
      paint: worker.isSilent ? options.style.red : (text: string) => text,
    },
  ]);
  return tableText(columns, cells, options);
}

function roleCell({ isHead, isSilent, files }: EngineWorker, style: Style): Cell {
  if (isSilent) return { text: 'silent', paint: style.red };
  const words = [...(isHead ? ['head'] : []), ...(files > 0 ? ['hand'] : [])];
  return { text: words.length === 0 ? 'waiting' : words.join(', '), paint: isHead ? style.green : (text) => text };
}

/** Limits that the workers of each account keep. */
function limitsText(accounts: readonly EngineAccount[]): string {
  return accounts
    .map(({ id, limit }) => (limit === undefined ? '' : `limit of account ${id.slice(0, 8)}: ${limitText(limit)}\n`))
    .join('');
}

export function troublesText(state: EngineState, style: Style): string {
  const lines = troublesOf(state).map(
    ({ is, text }) => `${is === 'error' ? style.red(is) : style.yellow(is)} ${text}\n`,
  );
  return lines.join('');
}

/** Things on an engine that a person has to look after. */
export function troublesOf({ runs, accounts }: EngineState): { is: 'error' | 'notice'; text: string }[] {
  const troubles: { is: 'error' | 'notice'; text: string }[] = [];
  for (const { id, error } of accounts) {
    if (error !== undefined)
      troubles.push({ is: 'error', text: `head of account ${id.slice(0, 8)}: ${safeText(error, 300)}` });
  }
  for (const { id, campaign, error, state } of runs) {
    if (error === undefined || state === 'ended') continue;
    const text = `run ${id.slice(0, 8)} of ${campaign} is put aside, and tried again each minute: ${error}`;
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
      return `${run}: no worker has the key of account ${account.slice(0, 8)}`;
    case 'version':
      return `${run}: no worker has the version of mediabatch that submitted it`;
    case 'store':
      return `${run}: no worker has its store; start one with the --store of its \`apply\``;
    case 'leader':
      return `${run}: no worker leads account ${account.slice(0, 8)}`;
    default:
      return lacks satisfies never;
  }
}
