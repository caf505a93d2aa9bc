import type { EngineAccount, EngineRun, EngineState, EngineWorker } from '../../contract/engine-state.ts';
import type { Json } from '../../ground/json.ts';
import { countOf, limitText, spanText } from '../numbers.ts';
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
    { title: 'steps', align: 'right' as const },
    { title: 'files waiting', align: 'right' as const },
    { title: 'submitted' },
    { title: 'from', least: 12 },
    { title: 'account' },
    { title: 'run' },
  ];
  const cells = runs.map((run) => [
    { text: run.campaign, paint: options.style.bold },
    stateCell(run, options.style),
    `${run.steps.ended} of ${run.steps.of}`,
    run.files.wanted === 0 ? '' : String(run.files.wanted),
    `${spanText(run.submittedMs)} ago`,
    `${run.host}:${run.manifest}`,
    run.account.slice(0, 8),
    run.id.slice(0, 8),
  ]);
  return tableText(columns, cells, options);
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
    { title: 'rates', least: 12 },
    { title: 'account' },
    { title: 'version' },
    { title: 'heard of' },
  ];
  const cells = workers.map((worker) => [
    `${worker.host} ${worker.pid}`,
    roleCell(worker, options.style),
    worker.files === 0 ? '' : String(worker.files),
    ratesText(worker.rates),
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

/** `inFlight` reads as `in flight 12`; what is none is not told, so that the rest has room. */
function ratesText(rates: EngineWorker['rates']): string {
  const wordsOf = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return Object.entries(rates ?? {})
    .map(([name, value]): [string, number] => [wordsOf(name), Math.round(value * 10) / 10])
    .filter(([, value]) => value !== 0)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
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
export function troublesOf({ runs, accounts, workers }: EngineState): { is: 'error' | 'notice'; text: string }[] {
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
  for (const [account, count] of openRunsByAccount(runs)) {
    const isServed = workers.some((worker) => worker.account === account && !worker.isSilent);
    if (isServed) continue;
    const text = `no worker has the key of account ${account.slice(0, 8)}, so ${countOf(count, 'open run')} ${count === 1 ? 'waits' : 'wait'}`;
    troubles.push({ is: 'notice', text });
  }
  return troubles;
}

function openRunsByAccount(runs: readonly EngineRun[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { account, state } of runs) {
    if (state !== 'ended') counts.set(account, (counts.get(account) ?? 0) + 1);
  }
  return counts;
}
