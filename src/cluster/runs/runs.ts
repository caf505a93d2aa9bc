import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import type { StepOrder } from '../../plan/plan.ts';
import type { StepEnd } from '../../run/step-end.ts';
import {
  type Boss,
  leaderQueue,
  leaderQueueOptions,
  ofBoss,
  protocol,
  runChannel,
  workChannel,
} from '../database/boss.ts';
import type { Database, Sql } from '../database/database.ts';
import { held, insertRows, type RunTerm, raisedEpoch, repeatable, writeAsLeader } from '../leader/rows.ts';
import { whichServer } from '../store/run-mark.ts';
import { insertOrders, purchaseOf, type RunRecord, type Submission, sealHeader } from './run-record.ts';

const columns = `id, account, protocol, campaign, state, settings, totals, origin, store, server, cancelled, paused, submitted,
  ended, result, error`;

/** Stores a run and queues its leader job. `attached`: the campaign had an open run, so nothing was stored. */
export async function submitRun(
  database: Database,
  boss: Boss,
  submission: Submission,
): Promise<{ id: string; attached: boolean }> {
  const { id, account, campaign } = submission;
  const [orders, lines] = [repeatable(submission.orders), repeatable(submission.lines)];
  const queue = leaderQueue(account);
  await database.persist(() => boss.createQueue(queue, leaderQueueOptions));
  const server = await whichServer(database);
  return database.transaction(async (sql) => {
    await sql.query('INSERT INTO mediabatch.account (id) VALUES ($1) ON CONFLICT DO NOTHING', [account]);
    // A leader that is about to end waits for this row lock, and then finds the new run.
    await sql.query('SELECT FROM mediabatch.account WHERE id = $1 FOR UPDATE', [account]);
    const open = await sql.query<Pick<RunRecord, 'id' | 'campaign' | 'protocol' | 'origin'>>(
      "SELECT id, campaign, protocol, origin FROM mediabatch.run WHERE account = $1 AND (state = 'open' OR id = $2)",
      [account, id],
    );
    const same = open.find((one) => one.id === id) ?? open.find((one) => one.campaign === campaign);
    if (same !== undefined) return { id: same.id, attached: same.id !== id };
    for (const one of open) requireOwnProtocol(one);
    await refuseTwin(sql, { ...submission, orders });
    await insertRun(sql, submission, server);
    await insertOrders(sql, submission, orders);
    await insertRows(sql, id, lines);
    // Queues of idle accounts are deleted, but not while the account is locked.
    const kept = await sql.query('SELECT FROM mediabatch_queue.queue WHERE name = $1', [queue]);
    if (kept.length === 0) await boss.createQueue(queue, leaderQueueOptions);
    await boss.send(queue, { account }, { db: ofBoss(sql) });
    await sql.query('SELECT pg_notify($1, $2)', [workChannel, account]);
    return { id, attached: false };
  });
}

/** Throws MB3703 if the run has another protocol version: workers of this mediabatch version would ignore the run. */
export function requireOwnProtocol(run: Pick<RunRecord, 'campaign' | 'protocol' | 'origin'>): void {
  if (run.protocol === protocol) return;
  const { version } = run.origin;
  throw new CampaignError({
    code: 'MB3703',
    message: `the run of ${run.campaign} on this engine was started by mediabatch ${version} (protocol ${run.protocol}; this version has protocol ${protocol})`,
    hint: `let that run end with workers of ${version}, or use ${version} on this machine. Nothing was submitted`,
  });
}

async function insertRun(sql: Sql, submission: Submission, server: string): Promise<void> {
  const { id, account, campaign, settings, totals, header, origin, store } = submission;
  const text = `INSERT INTO mediabatch.run
    (id, account, protocol, campaign, state, settings, totals, header, origin, store, server)
    VALUES ($1, $2, $3, $4, 'open', $5, $6, $7, $8, $9, $10)`;
  const json = [settings, totals].map((value) => JSON.stringify(value));
  const sealed = sealHeader(submission.seal, header, submission);
  await sql.query(text, [id, account, protocol, campaign, ...json, sealed, JSON.stringify(origin), store, server]);
}

export async function findOpenRun(sql: Sql, account: string, campaign: string): Promise<RunRecord | undefined> {
  const text = `SELECT ${columns} FROM mediabatch.run WHERE account = $1 AND campaign = $2 AND state = 'open'`;
  return (await sql.query<RunRecord>(text, [account, campaign]))[0];
}

export function lastEndedRuns(
  sql: Sql,
  { account, campaign, most }: { account: string; campaign: string; most: number },
): Promise<RunRecord[]> {
  const text = `SELECT ${columns} FROM mediabatch.run WHERE account = $1 AND campaign = $2 AND state = 'ended'
    ORDER BY ended DESC, submitted DESC, id LIMIT $3`;
  return sql.query<RunRecord>(text, [account, campaign, most]);
}

export async function readRun(sql: Sql, id: string): Promise<RunRecord | undefined> {
  return (await sql.query<RunRecord>(`SELECT ${columns} FROM mediabatch.run WHERE id = $1`, [id]))[0];
}

export function openRunsOf(sql: Sql, account: string): Promise<RunRecord[]> {
  const text = `SELECT ${columns} FROM mediabatch.run WHERE account = $1 AND state = 'open' ORDER BY submitted, id`;
  return sql.query<RunRecord>(text, [account]);
}

export async function readEnds(sql: Sql, id: string): Promise<Map<string, StepEnd>> {
  const text = 'SELECT name, stop FROM mediabatch.ended WHERE run = $1';
  const rows = await sql.query<{ name: string; stop: string }>(text, [id]);
  return new Map(rows.map(({ name, stop }) => [name, JSON.parse(stop) as StepEnd]));
}

const insertEnds = `${held}, written AS (
    INSERT INTO mediabatch.ended (run, name, epoch, stop)
    SELECT $3::text, one.name, held.epoch, one.stop FROM held, unnest($4::text[], $5::text[]) AS one (name, stop) ON CONFLICT DO NOTHING) -- I32
  SELECT count(*) AS held FROM held`;

export function writeEnds(
  database: Database,
  { run, ...term }: RunTerm,
  ends: ReadonlyMap<string, StepEnd>,
): Promise<void> {
  const stops = [...ends.values()].map((end) => JSON.stringify(end));
  return writeAsLeader(database, term, insertEnds, [run, [...ends.keys()], stops]);
}

const updateRun = `${held}, written AS (
    UPDATE mediabatch.run SET state = 'ended', ended = now(), result = $4, error = $5::text WHERE id = $3 AND state = 'open' AND EXISTS (SELECT FROM held)) -- I34
  , answered AS (DELETE FROM mediabatch.body WHERE run = $3 AND EXISTS (SELECT FROM held))
  , fetched AS (UPDATE mediabatch.file SET task = NULL WHERE run = $3 AND task IS NOT NULL AND EXISTS (SELECT FROM held))
  SELECT count(*) AS held, pg_notify('${runChannel}', $3) FROM held`;

export async function endRun(
  sql: Sql,
  { run, ...term }: RunTerm,
  result: NonNullable<RunRecord['result']>,
  error: string | null = null,
): Promise<void> {
  await writeAsLeader(sql, term, updateRun, [run, JSON.stringify(result), error]);
}

/** Increments the epoch, which ends the current leadership. Returns undefined if the run is closed. */
async function takeFromLeader(sql: Sql, id: string): Promise<RunTerm | undefined> {
  const [open] = await sql.query<{ account: string; epoch: string }>(
    `UPDATE mediabatch.account SET epoch = ${raisedEpoch} -- I45
     FROM mediabatch.run WHERE run.id = $1 AND run.state = 'open' AND account.id = run.account
     RETURNING account.id AS account, account.epoch`,
    [id],
  );
  return open && { account: open.account, epoch: Number(open.epoch), run: id };
}

/**
 * Restores lost lock lines of an open run. The next leader reads all lines again. `server`: identity of the database
 * that contains all lines, `null` if unknown.
 */
export function sendRecords(
  database: Database,
  { id, server }: Pick<RunRecord, 'id' | 'server'>,
  lines: readonly string[],
): Promise<void> {
  return database.transaction(async (sql) => {
    const open = await takeFromLeader(sql, id);
    if (open === undefined) return;
    await insertRows(sql, id, lines, { epoch: open.epoch, no: -1 });
    await sql.query('UPDATE mediabatch.run SET error = NULL, server = $2 WHERE id = $1', [id, server]);
    await sql.query('SELECT pg_notify($1, $2), pg_notify($3, $4)', [runChannel, id, workChannel, open.account]);
  });
}

export function abandon(database: Database, id: string, because: string): Promise<void> {
  return database.transaction(async (sql) => {
    const open = await takeFromLeader(sql, id);
    if (open === undefined) return;
    await endRun(sql, open, { exit: exitCodes.interrupted, outcomes: {} }, because);
    await sql.query('SELECT pg_notify($1, $2)', [workChannel, open.account]);
  });
}

const updateError = `${held}, written AS (
    UPDATE mediabatch.run SET error = $4::text WHERE id = $3 AND state = 'open' AND EXISTS (SELECT FROM held))
  SELECT count(*) AS held, pg_notify('${runChannel}', $3) FROM held`;

export async function noteRunError(database: Database, { run, ...term }: RunTerm, error: string | null): Promise<void> {
  await writeAsLeader(database, term, updateError, [run, error]);
}

const acts = {
  cancel: `cancelled = coalesce(cancelled, now()), paused = NULL,
      origin = jsonb_build_object('cancelledBy', $2::text) || origin WHERE true`,
  pause: `paused = coalesce(paused, now()),
      origin = CASE WHEN paused IS NULL THEN origin || jsonb_build_object('pausedBy', $2::text) ELSE origin END
    WHERE cancelled IS NULL`,
  resume: `paused = NULL, origin = origin - 'pausedBy' WHERE paused IS NOT NULL AND $2::text IS NOT NULL`,
};

/** Cancels, pauses or resumes a run. `by`: user name for display. Resolves with `false` if nothing changed. */
export async function actOn(
  sql: Sql,
  id: string,
  { act, by }: { act: keyof typeof acts; by: string },
): Promise<boolean> {
  const text = `UPDATE mediabatch.run SET ${acts[act]} AND id = $1 AND state = 'open'
    RETURNING account, pg_notify('${runChannel}', id), pg_notify('${workChannel}', account)`;
  return (await sql.query(text, [id, by])).length > 0;
}

/**
 * Throws MB3704 if an open run of another engine account has the same step: two API keys or host names may belong to
 * one account of the service.
 */
async function refuseTwin(sql: Sql, { account, campaign, orders }: Submission): Promise<void> {
  // Of two concurrent submissions, the second waits here until the transaction of the first ends.
  await sql.query("SELECT pg_advisory_xact_lock(hashtext('mediabatch campaign'), hashtext($1))", [campaign]);
  const mine = new Map([...orders].flatMap((order) => purchaseOf(order).map((digest) => [digest, order])));
  const others = await sql.query<{ origin: RunRecord['origin']; purchases: string[] }>(
    `SELECT origin, purchases FROM mediabatch.run JOIN mediabatch.part ON part.run = run.id
     WHERE campaign = $1 AND account <> $2 AND state = 'open' AND purchases && $3::text[]`,
    [campaign, account, [...mine.keys()]],
  );
  for (const { origin, purchases } of others) {
    const same = purchases.map((digest) => mine.get(digest)).find((order) => order !== undefined); // I47
    if (same !== undefined) throw twinError(same, { campaign, origin });
  }
}

function twinError(
  { address }: StepOrder,
  { campaign, origin }: { campaign: string; origin: RunRecord['origin'] },
): CampaignError {
  const { user, host, manifest } = origin;
  return new CampaignError({
    code: 'MB3704',
    message: `${address} is already being bought on this engine, with another API key or another service address: by the run of ${campaign} that ${user === '' ? '' : `${user} on `}${host} submitted (${manifest})`,
    hint: [
      'to attach to that run, use the API key and the MEDIABATCH_BASE_URL with which the run was submitted',
      way('to see that run', call('workers')),
      'to buy the step separately with another account, rename this campaign. Nothing was submitted',
    ],
    lock: campaign,
  });
}
