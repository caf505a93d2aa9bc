import type { EngineAccount, EngineRun, EngineState, EngineWorker } from '../contract/engine-state.ts';
import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import type { Sql } from './database/database.ts';
import { readSpendingLeft } from './head/account-spending.ts';

/** A living worker says so every 5 s. */
const silentMs = 20_000;
/** Ended runs that are still shown. */
const mostEnded = 10;

const age = (column: string) => `(extract(epoch FROM now() - ${column}) * 1000)::float8`;

/** Runs, accounts and workers of an engine: all open runs, and the last ones that have ended. */
export async function readEngineState(sql: Sql): Promise<EngineState> {
  return { runs: await readRuns(sql), accounts: await readAccounts(sql), workers: await readWorkers(sql) };
}

interface RunRow {
  id: string;
  account: string;
  campaign: string;
  state: string;
  cancelled: boolean;
  origin: { host?: string; manifest?: string; cancelledBy?: string; pausedBy?: string };
  submittedMs: number;
  endedMs: number | null;
  cancelledMs: number | null;
  pausedMs: number | null;
  exit: number | null;
  ends: number;
  orders: number;
  wanted: number;
  saved: number;
  failed: number;
  store: string | null;
  protocol: number;
  error: string | null;
}

async function readRuns(sql: Sql): Promise<EngineRun[]> {
  const rows = await sql.query<RunRow>(
    `SELECT id, account, campaign, state, cancelled IS NOT NULL AS cancelled, origin, store, protocol, error,
       ${age('submitted')} AS "submittedMs", ${age('ended')} AS "endedMs", ${age('cancelled')} AS "cancelledMs", ${age('paused')} AS "pausedMs", (result->>'exit')::int AS exit,
       (SELECT count(*)::int FROM mediabatch.ended WHERE run = shown.id) AS ends,
       (SELECT coalesce(sum(count), 0)::int FROM mediabatch.part WHERE run = shown.id) AS orders,
       (SELECT count(*)::int FROM mediabatch.file WHERE run = shown.id AND state = 'wanted') AS wanted,
       (SELECT count(*)::int FROM mediabatch.file WHERE run = shown.id AND state = 'saved') AS saved,
       (SELECT count(*)::int FROM mediabatch.file WHERE run = shown.id AND state = 'failed') AS failed
     FROM (
       (SELECT * FROM mediabatch.run WHERE state = 'open') UNION ALL
       (SELECT * FROM mediabatch.run WHERE state = 'ended' ORDER BY ended DESC LIMIT $1)
     ) AS shown ORDER BY state DESC, submitted DESC, id`,
    [mostEnded],
  );
  return rows.map(
    ({
      origin,
      ends,
      orders,
      wanted,
      saved,
      failed,
      cancelled,
      endedMs,
      cancelledMs,
      pausedMs,
      exit,
      state,
      error,
      ...row
    }) => ({
      ...row,
      state: state === 'ended' ? 'ended' : cancelled ? 'stopping' : pausedMs === null ? 'open' : 'paused',
      host: origin.host ?? '',
      manifest: origin.manifest ?? '',
      ...(endedMs !== null && { endedMs }),
      ...(cancelledMs !== null && { cancelled: { by: origin.cancelledBy ?? '', ageMs: cancelledMs } }),
      ...(pausedMs !== null && state === 'open' && { paused: { by: origin.pausedBy ?? '', ageMs: pausedMs } }),
      ...(exit !== null && { exit }),
      ...(error !== null && state === 'open' && { error }),
      steps: { ended: ends, of: orders },
      files: { wanted, saved, failed },
    }),
  );
}

async function readAccounts(sql: Sql): Promise<EngineAccount[]> {
  const rows = await sql.query<{ id: string; head: string | null; beatMs: number | null; error: string | null }>(
    `SELECT id, head, ${age('beat')} AS "beatMs", error FROM mediabatch.account ORDER BY id`,
  );
  const limits = await readSpendingLeft(
    sql,
    rows.map(({ id }) => id),
  );
  return rows.map(({ id, head, beatMs, error }) => {
    const limit = limits.get(id);
    return {
      ...{ id, head },
      ...(beatMs !== null && { beatMs }),
      ...(error !== null && { error }),
      ...(limit !== undefined && { limit }),
    };
  });
}

type WorkerRow = Omit<EngineWorker, 'isSilent' | 'isHead' | 'rates'> & {
  doing: Json | null;
  isHead: boolean;
};

async function readWorkers(sql: Sql): Promise<EngineWorker[]> {
  const rows = await sql.query<WorkerRow>(
    `SELECT worker.id, worker.account, host, pid, protocol, version, store, files, ${age('worker.beat')} AS "beatMs", doing,
       account.id IS NOT NULL AS "isHead"
     FROM mediabatch.worker LEFT JOIN mediabatch.account ON account.head = worker.id
       AND EXISTS (SELECT FROM mediabatch.run WHERE run.account = account.id AND state = 'open')
     ORDER BY account.id IS NULL, host, pid, worker.id`,
  );
  return rows.map(({ doing, ...row }) => {
    const rates = ratesOf(doing);
    return {
      ...row,
      isSilent: row.beatMs > silentMs,
      ...(rates !== undefined && row.isHead && { rates }),
    };
  });
}

/** Numbers among what a head says of itself. */
function ratesOf(doing: Json | null): { [name: string]: number } | undefined {
  if (!isMap(doing) || !isMap(doing.facts)) return undefined;
  const numbers = Object.entries(doing.facts).filter((fact): fact is [string, number] => typeof fact[1] === 'number');
  return numbers.length === 0 ? undefined : Object.fromEntries(numbers);
}
