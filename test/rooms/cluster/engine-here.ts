import { onTestFinished } from 'vitest';
import { type Boss, openBoss } from '../../../src/cluster/database/boss.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { takeLeadership } from '../../../src/cluster/leader/account.ts';
import { Leader } from '../../../src/cluster/leader/leader.ts';
import type { RunRecord, Submission } from '../../../src/cluster/runs/run-record.ts';
import { readRun, submitRun } from '../../../src/cluster/runs/runs.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import { openFresh } from '../../rig/postgres.ts';
import { submission } from './submission.ts';

/** A fresh database with its queue, until the test ends. */
export async function engineHere(): Promise<{ url: string; db: Database; boss: Boss }> {
  const { url, database } = await openFresh();
  const boss = await openBoss(database);
  onTestFinished(() => boss.stop({ graceful: false }));
  return { url, db: database, boss };
}

/** A head of the account that runs until the test ends. */
export async function headHere(
  { db, boss }: { db: Database; boss: Boss },
  { account, ...more }: Partial<ConstructorParameters<typeof Leader>[0]> & { account: string },
) {
  const leadership = await takeLeadership({ db, boss, account, worker: 'one' });
  if (leadership === undefined) throw new Error('the leadership is not free');
  const end = new AbortController();
  const head = new Leader({
    ...{
      db,
      boss,
      account,
      leadership,
      signal: end.signal,
      own: undefined,
      replays: 'yes',
      accountOf: () => undefined,
    },
    access: { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key' },
    seal: makeSeal('key'),
    clock: systemClock,
    redact: (text) => text,
    onSize: () => {},
    log: () => {},
    ...more,
  });
  const running = head.run();
  const leave = async () => {
    end.abort();
    await running.catch(() => {});
    leadership.lease.lose();
  };
  running.catch(() => {});
  onTestFinished(leave);
  return { head, leadership, running, leave };
}

/** A fresh engine on which this run was submitted. */
export async function submittedHere(run: Submission) {
  const engine = await engineHere();
  const { id } = await submitRun(engine.db, engine.boss, run);
  return { ...engine, engine, id };
}

/** A run that must be on record. */
export async function known(db: Database, id: string): Promise<RunRecord> {
  const run = await readRun(db, id);
  if (run === undefined) throw new Error('there is no such run');
  return run;
}

/** A run with a whole plan that buys nothing. */
export function nothingToDo(facts: Parameters<typeof submission>[0]): Submission {
  const run = submission(facts);
  const totals = { orders: 0, minCredits: 0, maxCredits: 0, held: 0, cap: null, unknown: 0 };
  const plan = { campaign: run.campaign, concurrency: 1, rows: [], totals, prices: {}, orphans: [] };
  const header = { plan, orders: 0, outline: { tasks: [], addresses: [] }, createRoutes: {}, prices: {} };
  return { ...run, totals, header } as unknown as Submission;
}

/** Rows of an open run and of its account, and the term of the first head. */
export async function bareRun(database: Database) {
  await database.query("INSERT INTO mediabatch.account (id, epoch) VALUES ('a', 1)");
  await database.query(`INSERT INTO mediabatch.run (id, account, protocol, campaign, state, settings, totals, header, origin)
    VALUES ('r', 'a', 1, 'spring', 'open', '{}', '{}', '', '{}')`);
  return { account: 'a', epoch: 1, run: 'r' };
}

export { submission };
