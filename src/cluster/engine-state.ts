import { type EngineRun, type EngineState, type EngineWorker, lackOf } from '../contract/engine-state.ts';
import { defined } from '../ground/values.ts';
import type { Sql } from './database/database.ts';
import { leaseMs } from './leader/account.ts';
import { readSpendingLeft } from './leader/account-spending.ts';

/** Time in ms after the last heartbeat at which a worker counts as silent. Workers send a heartbeat every 5 to 10 s. */
const silentMs = 20_000;
const mostEnded = 10;

const age = (column: string) => `abs(extract(epoch FROM now() - ${column}) * 1000)::float8`;

const isLeading = `${age('account.beat')} < ${leaseMs}`;

export interface Shown {
  campaign?: string | undefined;
  state?: EngineRun['state'] | undefined;
  isCounted?: boolean;
}

export async function readEngineState(sql: Sql, shown: Shown = {}): Promise<EngineState> {
  const [runs, accounts, workers] = [await readRuns(sql, shown), await readAccounts(sql), await readWorkers(sql)];
  return {
    accounts,
    workers,
    runs: runs.flatMap((run) => {
      if (shown.state !== undefined && run.state !== shown.state) return [];
      const lacks = run.state === 'ended' ? undefined : lackOf(run, { accounts, workers });
      return [{ ...run, ...defined({ lacks }) }];
    }),
  };
}

const actBy = (column: string, by: string) => `CASE WHEN ${column} IS NOT NULL THEN
  json_build_object('by', coalesce(origin->>'${by}', ''), 'ageMs', ${age(column)}) END`;

const facts = `json_strip_nulls(json_build_object('id', id, 'account', account, 'campaign', campaign,
  'state', CASE WHEN state = 'ended' THEN state WHEN cancelled IS NOT NULL THEN 'stopping'
    WHEN paused IS NOT NULL THEN 'paused' ELSE 'open' END,
  'host', coalesce(origin->>'host', ''), 'manifest', coalesce(origin->>'manifest', ''), 'protocol', protocol,
  'submittedMs', ${age('submitted')}, 'endedMs', ${age('ended')}, 'exit', result->'exit',
  'cancelled', ${actBy('cancelled', 'cancelledBy')},
  'paused', CASE WHEN state = 'open' THEN ${actBy('paused', 'pausedBy')} END,
  'error', CASE WHEN state = 'open' THEN error END))`;

const counted = `json_strip_nulls(json_build_object(
  'credits', coalesce(result->'end'->>'spentNow', (SELECT substring(text FROM '.*"spentNow":([0-9]+)')
    FROM mediabatch.event WHERE run = shown.id AND text LIKE '%"spentNow":%' ORDER BY seq DESC LIMIT 1))::int,
  'ends', (SELECT json_object_agg(outcome, n) FROM (SELECT stop::json->>'outcome' AS outcome, count(*) AS n
    FROM mediabatch.ended WHERE run = shown.id GROUP BY 1) AS ends),
  'of', (SELECT sum(count) FROM mediabatch.part WHERE run = shown.id),
  'wanted', (SELECT count(*) FROM mediabatch.file WHERE run = shown.id AND state = 'wanted'),
  'saved', (SELECT sum(length(text) - length(replace(text, '"output-saved"', '"output-save"')))
    FROM mediabatch.event WHERE run = shown.id),
  'failed', (SELECT count(*) FROM mediabatch.ended WHERE run = shown.id AND stop::json->>'unsaved' = 'true')))`;

interface RunRow {
  facts: Omit<EngineRun, 'steps' | 'files' | 'store' | 'credits'>;
  counted: { [name in 'credits' | 'of' | 'wanted' | 'saved' | 'failed']?: number } & { ends?: Ends };
  store: string | null;
}

async function readRuns(sql: Sql, { campaign, isCounted = true }: Shown): Promise<EngineRun[]> {
  const rows = await sql.query<RunRow>(
    `SELECT ${facts} AS facts, ${isCounted ? counted : "'{}'::json"} AS counted, store FROM (
       (SELECT * FROM mediabatch.run WHERE state = 'open') UNION ALL
       (SELECT * FROM mediabatch.run WHERE state = 'ended' AND coalesce(campaign = $2, true) ORDER BY ended DESC LIMIT $1)
     ) AS shown WHERE coalesce(campaign = $2, true) ORDER BY state DESC, submitted DESC, id`,
    [mostEnded, campaign ?? null],
  );
  return rows.map(
    ({ facts: run, counted: { credits, ends = {}, of = 0, wanted = 0, saved = 0, failed = 0 }, store }) => ({
      ...run,
      ...defined({ credits }),
      steps: stepsOf(ends, { of, isOpen: run.state !== 'ended' }),
      files: { wanted, saved, failed },
      store,
    }),
  );
}

type Ends = { [outcome: string]: number };

function stepsOf(ends: Ends, { of, isOpen }: { of: number; isOpen: boolean }): EngineRun['steps'] {
  const { done = 0, unneeded = 0, running = 0, left = 0, blocked = 0, ...fell } = ends;
  const failed = Object.values(fell).reduce((sum, count) => sum + count, 0);
  const open = of - done - unneeded - running - left - blocked - failed;
  return {
    ...{ done: done + unneeded, failed, of },
    waiting: running + (isOpen ? open : 0),
    left: left + blocked + (isOpen ? 0 : open),
  };
}

async function readAccounts(sql: Sql): Promise<EngineState['accounts']> {
  const rows = await sql.query<{ id: string; head: string | null; beatMs: number | null; error: string | null }>(
    `SELECT id, CASE WHEN ${isLeading} THEN head END AS head, ${age('beat')} AS "beatMs", error
     FROM mediabatch.account ORDER BY id`,
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
      ...defined({ limit }),
    };
  });
}

function readWorkers(sql: Sql): Promise<EngineWorker[]> {
  return sql.query<EngineWorker>(
    `SELECT worker.id, worker.account, host, pid, protocol, version, store, files, ${age('worker.beat')} AS "beatMs",
       ${age('worker.beat')} > ${silentMs} AS "isSilent", account.id IS NOT NULL AS "isHead"
     FROM mediabatch.worker LEFT JOIN mediabatch.account ON account.head = worker.id AND ${isLeading}
       AND EXISTS (SELECT FROM mediabatch.run WHERE run.account = account.id AND state = 'open')
     ORDER BY account.id IS NULL, host, pid, worker.id`,
  );
}
