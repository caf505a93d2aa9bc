import { CampaignError } from '../contract/failure.ts';
import type { StepOrder } from '../plan/plan.ts';
import type { StepEnd } from '../run/step-end.ts';
import { type Boss, headQueue, headQueueOptions, ofBoss } from './boss.ts';
import type { Database, Sql } from './database.ts';
import { held, type Term, writeAsHead } from './guarded.ts';
import { insertRows, repeatable } from './lines.ts';
import { protocol } from './protocol.ts';
import type { RunHeader, RunRecord, RunResultRecord, Submission } from './run-record.ts';

/** Told of an account, its id as payload, when there may be something to do for a worker. */
export const workChannel = 'mediabatch_work';
/** Told of a run, its id as payload, when there is news of it. */
export const runChannel = 'mediabatch_run';

const ordersPerPart = 200;
const columns = `id, account, protocol, campaign, state, sandbox, settings, totals, origin, store, cancelled, submitted,
  ended, result, error`;

/**
 * Puts a run on record, with the job of its head, in one transaction. Keys are made from the campaign's name, so an account
 * has one open run of each: `attached` when there is one already, or one has ended that the submitter has not seen, and
 * nothing was submitted.
 */
export async function submitRun(
  database: Database,
  boss: Boss,
  submission: Submission,
): Promise<{ id: string; attached: boolean }> {
  const { id, account, campaign, last } = submission;
  const [orders, lines] = [repeatable(submission.orders), repeatable(submission.lines)];
  const queue = headQueue(account);
  await database.persist(() => boss.createQueue(queue, headQueueOptions));
  return database.transaction(async (sql) => {
    await sql.query('INSERT INTO mediabatch.account (id) VALUES ($1) ON CONFLICT DO NOTHING', [account]);
    // A head that finds no open run waits for this, and then finds one.
    await sql.query('SELECT FROM mediabatch.account WHERE id = $1 FOR UPDATE', [account]);
    const open = await sql.query<{ id: string; campaign: string; protocol: number }>(
      "SELECT id, campaign, protocol FROM mediabatch.run WHERE account = $1 AND (state = 'open' OR id = $2)",
      [account, id],
    );
    const same = open.find((one) => one.id === id) ?? open.find((one) => one.campaign === campaign);
    if (same !== undefined) return { id: same.id, attached: same.id !== id };
    const [ended] = last === undefined ? [] : await lastEndedRuns(sql, { account, campaign, most: 1 });
    if (ended !== undefined && ended.id !== last) return { id: ended.id, attached: true };
    const other = open.find((one) => one.protocol !== protocol);
    if (other !== undefined) throw otherVersion(other);
    await insertRun(sql, submission);
    await insertOrders(sql, id, orders);
    await insertRows(sql, id, lines);
    await boss.send(queue, { account }, { db: ofBoss(sql) });
    await sql.query('SELECT pg_notify($1, $2)', [workChannel, account]);
    return { id, attached: false };
  });
}

function otherVersion(run: { campaign: string; protocol: number }): CampaignError {
  return new CampaignError({
    code: 'MB3703',
    message: `the run of ${run.campaign} on this engine was begun by another version of mediabatch (protocol ${run.protocol}, this one has ${protocol})`,
    hint: 'let it end, with workers of its version, or use that version here; nothing was submitted',
  });
}

async function insertRun(sql: Sql, submission: Submission): Promise<void> {
  const { id, account, campaign, sandbox, settings, totals, header, origin, store } = submission;
  const text = `INSERT INTO mediabatch.run
    (id, account, protocol, campaign, state, sandbox, settings, totals, header, origin, store)
    VALUES ($1, $2, $3, $4, 'open', $5, $6, $7, $8, $9, $10)`;
  const json = [settings, totals, header, origin].map((value) => JSON.stringify(value));
  await sql.query(text, [id, account, protocol, campaign, sandbox, ...json, store]);
}

async function insertOrders(sql: Sql, run: string, orders: Iterable<StepOrder>): Promise<void> {
  let [part, no]: [string[], number] = [[], 0];
  const write = async () => {
    await sql.query('INSERT INTO mediabatch.part (run, no, orders) VALUES ($1, $2, $3)', [run, no, part.join('\n')]);
    no += 1;
    part = [];
  };
  for (const order of orders) {
    part.push(JSON.stringify(order));
    if (part.length === ordersPerPart) await write();
  }
  if (part.length > 0) await write();
}

export async function findOpenRun(sql: Sql, account: string, campaign: string): Promise<RunRecord | undefined> {
  const text = `SELECT ${columns} FROM mediabatch.run WHERE account = $1 AND campaign = $2 AND state = 'open'`;
  return (await sql.query<RunRecord>(text, [account, campaign]))[0];
}

/** Runs of a campaign that have ended, the last one first. */
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

/** Open runs of an account, oldest first. */
export function openRunsOf(sql: Sql, account: string): Promise<RunRecord[]> {
  const text = `SELECT ${columns} FROM mediabatch.run WHERE account = $1 AND state = 'open' ORDER BY submitted, id`;
  return sql.query<RunRecord>(text, [account]);
}

export async function readHeader(sql: Sql, id: string): Promise<RunHeader> {
  const [row] = await sql.query<{ header: string }>('SELECT header FROM mediabatch.run WHERE id = $1', [id]);
  if (row === undefined) throw new Error(`internal error: no run ${id}`);
  return JSON.parse(row.header) as RunHeader;
}

/** The orders of a run, as its plan has them, a part at a time. */
export async function* readOrders(sql: Sql, id: string): AsyncGenerator<StepOrder> {
  for (let no = 0; ; no += 1) {
    const text = 'SELECT orders FROM mediabatch.part WHERE run = $1 AND no = $2';
    const [part] = await sql.query<{ orders: string }>(text, [id, no]);
    if (part === undefined) return;
    for (const line of part.orders.split('\n')) yield JSON.parse(line) as StepOrder;
  }
}

/** How orders of a run have ended, by id. */
export async function readEnds(sql: Sql, id: string): Promise<Map<string, StepEnd>> {
  const text = 'SELECT name, stop FROM mediabatch.ended WHERE run = $1';
  const rows = await sql.query<{ name: string; stop: string }>(text, [id]);
  return new Map(rows.map(({ name, stop }) => [name, JSON.parse(stop) as StepEnd]));
}

const insertEnds = `${held}, written AS (
    INSERT INTO mediabatch.ended (run, name, epoch, stop)
    SELECT $3::text, one.name, held.epoch, one.stop FROM held, unnest($4::text[], $5::text[]) AS one (name, stop) ON CONFLICT DO NOTHING) -- I32
  SELECT count(*) AS held FROM held`;

/** Records how orders have ended. */
export function writeEnds(
  database: Database,
  { run, ...term }: Term & { run: string },
  ends: ReadonlyMap<string, StepEnd>,
): Promise<void> {
  const stops = [...ends.values()].map((end) => JSON.stringify(end));
  return writeAsHead(database, term, insertEnds, [run, [...ends.keys()], stops]);
}

const updateRun = `${held}, written AS (
    UPDATE mediabatch.run SET state = 'ended', ended = now(), result = $4, error = NULL WHERE id = $3 AND state = 'open' AND EXISTS (SELECT FROM held)) -- I34
  , answered AS (DELETE FROM mediabatch.body WHERE run = $3 AND EXISTS (SELECT FROM held))
  , fetched AS (UPDATE mediabatch.file SET task = NULL WHERE run = $3 AND EXISTS (SELECT FROM held))
  SELECT count(*) AS held, pg_notify('${runChannel}', $3) FROM held`;

/** Ends a run. What was kept for its way goes: bodies, links, files that nobody fetches any more. */
export async function endRun(
  database: Database,
  { run, ...term }: Term & { run: string },
  result: RunResultRecord,
): Promise<void> {
  await writeAsHead(database, term, updateRun, [run, JSON.stringify(result)]);
}

const updateError = `${held}, written AS (
    UPDATE mediabatch.run SET error = $4::text WHERE id = $3 AND state = 'open' AND EXISTS (SELECT FROM held))
  SELECT count(*) AS held, pg_notify('${runChannel}', $3) FROM held`;

/** Records why a head does not go on with a run, which stays open; `null`: it does. */
export async function noteRunError(
  database: Database,
  { run, ...term }: Term & { run: string },
  error: string | null,
): Promise<void> {
  await writeAsHead(database, term, updateError, [run, error]);
}

/** Nothing more is bought for it; what runs is collected. `false`: it has ended. */
export async function cancelRun(sql: Sql, id: string): Promise<boolean> {
  const text = `UPDATE mediabatch.run SET cancelled = coalesce(cancelled, now()) WHERE id = $1 AND state = 'open'
    RETURNING account, pg_notify('${runChannel}', id), pg_notify('${workChannel}', account)`;
  return (await sql.query(text, [id])).length > 0;
}
