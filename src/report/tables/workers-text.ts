import type { EngineRun, EngineState, EngineWorker } from '../../contract/engine-state.ts';
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
import { countCell, limitText, spanText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

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
