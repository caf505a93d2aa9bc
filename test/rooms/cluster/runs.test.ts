import { describe, expect, onTestFinished, test } from 'vitest';
import { headQueue } from '../../../src/cluster/database/boss.ts';
import { type Database, openDatabase } from '../../../src/cluster/database/database.ts';
import { migrate } from '../../../src/cluster/database/schema.ts';
import { openBodies } from '../../../src/cluster/head/head-run.ts';
import { openLines, readEarlierLines, readLines } from '../../../src/cluster/head/lines.ts';
import { EventWriter, readEvents } from '../../../src/cluster/runs/events.ts';
import { readOrders } from '../../../src/cluster/runs/orders.ts';
import type { Submission } from '../../../src/cluster/runs/run-record.ts';
import {
  cancelRun,
  endRun,
  findOpenRun,
  lastEndedRuns,
  openRunsOf,
  readEnds,
  readRun,
  submitRun,
  writeEnds,
} from '../../../src/cluster/runs/runs.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import { HeadLostError } from '../../../src/contract/errors.ts';
import type { RunEvent } from '../../../src/contract/event.ts';
import type { StepOrder } from '../../../src/plan/plan.ts';
import type { StepEnd } from '../../../src/run/step-end.ts';
import { losingLine } from '../../rig/losing-line.ts';
import { openFresh } from '../../rig/postgres.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);
const events = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ event: 'note', n: first + n }) as unknown as RunEvent);

/** A run, and the term of the head that has its account. */
async function runHere() {
  const { url, db, boss } = await engineHere();
  const { id: run } = await submitRun(db, boss, submission({ account }));
  await db.query('UPDATE mediabatch.account SET epoch = 1');
  const term = { account, epoch: 1, run };
  return { url, db, boss, run, term, loseHead: () => db.query('UPDATE mediabatch.account SET epoch = epoch + 1') };
}

const count = async (db: Database, table: string) =>
  (await db.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`))[0]?.n;

describe('a submit', () => {
  test('whose COMMIT was not answered is made once, whole, even of what can be read only once', async () => {
    const { url, db, boss } = await engineHere();
    const line = await losingLine(url);
    const shaky = await openDatabase(line.url, { name: 'test' });
    onTestFinished(() => shaky.close());
    const orders = Array.from({ length: 450 }, (_, n) => ({ address: `hero@${n}` }) as StepOrder);
    const lines = Array.from({ length: 30 }, (_, n) => `{"line":${n}}\n`);
    const once = { ...submission({ account }), orders: orders.values(), lines: lines.values() };
    // Cut before it is carried out as well: then everything is written a second time.
    line.lose('INSERT INTO mediabatch.part');
    expect(await submitRun(shaky, boss, once)).toEqual({ id: once.id, attached: false });
    expect(line.lost).toBe(1);
    const stored = [];
    for await (const order of readOrders(db, once)) stored.push(order);
    expect(stored).toEqual(JSON.parse(JSON.stringify(orders)));
    expect((await readLines(db, once.id)).lines).toEqual(lines);

    const second = { ...submission({ account, campaign: 'summer' }), orders: orders.values(), lines: lines.values() };
    line.lose('COMMIT');
    expect(await submitRun(shaky, boss, second)).toEqual({ id: second.id, attached: false });
    expect(line.lost).toBe(2);
    expect((await readLines(db, second.id)).lines).toEqual(lines);
    expect(await count(db, 'mediabatch.part')).toBe(6);
    const [job] = await db.query('SELECT count(*)::int AS n FROM mediabatch_queue.job WHERE name = $1', [
      headQueue(account),
    ]);
    expect(job).toEqual({ n: 1 });
  });

  test('of two at once wins one, and the others attach to it', async () => {
    const { db, boss } = await engineHere();
    const answers = await Promise.all(Array.from({ length: 6 }, () => submitRun(db, boss, submission({ account }))));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers.filter(({ attached }) => !attached)).toHaveLength(1);
    expect(await count(db, 'mediabatch.run')).toBe(1);
  });

  test('finds what heads have written under its keys and fingerprints in earlier runs of its campaign', async () => {
    const { db, boss, run, term } = await runHere();
    const line = (key: string) => `{"address":"hero","key":"${key}"}\n`;
    const lines = openLines(db, term);
    const retried = '{"address":"hero","fingerprint":"same","key":"again"}\n';
    await Promise.all([lines.append(line('mine')), lines.append(line('other')), lines.append(retried)]);
    await endRun(db, term, { exit: 0, outcomes: {} });
    const later = { ...submission({ account }), keys: new Set(['mine']), fingerprints: new Set(['same']) };
    expect(await submitRun(db, boss, later)).toMatchObject({ attached: false });
    expect(await readEarlierLines(db, later)).toEqual([line('mine'), retried]);
    for (const other of [{ id: run }, { campaign: 'summer' }, { account: 'b'.repeat(32) }]) {
      expect(await readEarlierLines(db, { ...later, ...other })).toEqual([]);
    }
    expect(await lastEndedRuns(db, { account, campaign: 'spring', most: 5 })).toMatchObject([{ id: run }]);
    expect(await lastEndedRuns(db, { account: 'b'.repeat(32), campaign: 'spring', most: 5 })).toEqual([]);
  });

  const order = (fingerprint: string, action = 'create') =>
    ({ address: 'hero@1', fingerprint, action }) as unknown as StepOrder;
  const ofKey = (account: string, ...orders: StepOrder[]) => ({ ...submission({ account }), orders });
  const [one, two] = [account, 'b'.repeat(32)];

  test('I47 with a purchase that another key is buying is refused, of two at once as well', async () => {
    const { db, boss } = await engineHere();
    const at = Array.from({ length: 6 }, (_, n) => String(n).repeat(32));
    const tried = await Promise.allSettled(at.map((key) => submitRun(db, boss, ofKey(key, order('f'), order('g')))));
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const [refused] = tried.filter((answer) => answer.status === 'rejected');
    const message = expect.stringContaining('hero@1 is being bought on this engine already');
    expect(refused?.reason).toMatchObject({ failure: { code: 'MB3704', message } });
    expect(await count(db, 'mediabatch.run')).toBe(1);
  });

  test.each([
    ['buys something else', (run: Submission) => ({ ...run, orders: [order('other')] })],
    ['only collects it', (run: Submission) => ({ ...run, orders: [order('f', 'attach')] })],
    ['is another campaign', (run: Submission) => ({ ...run, campaign: 'summer' })],
  ])('of another key that %s is taken', async (_, change) => {
    const { db, boss } = await engineHere();
    await submitRun(db, boss, ofKey(one, order('f')));
    expect(await submitRun(db, boss, change(ofKey(two, order('f'))))).toMatchObject({ attached: false });
  });

  test('is refused while a run of another protocol is open, and leaves nothing', async () => {
    const { db, boss } = await engineHere();
    await submitRun(db, boss, submission({ account }));
    await db.query('UPDATE mediabatch.run SET protocol = 99');
    const refused = submitRun(db, boss, submission({ account, campaign: 'summer' }));
    const message = expect.stringContaining('begun by mediabatch 0.1.0 (protocol 99, this one has 1)');
    await expect(refused).rejects.toMatchObject({ failure: { code: 'MB3703', message } });
    expect(await count(db, 'mediabatch.run')).toBe(1);
  });
});

describe('a run', () => {
  test('is found while it is open, told of, cancelled once, and ended', async () => {
    const { db, run, term } = await runHere();
    expect(await findOpenRun(db, account, 'spring')).toMatchObject({ id: run, cancelled: null });
    expect(await findOpenRun(db, 'b'.repeat(32), 'spring')).toBeUndefined();
    expect(await cancelRun(db, run, 'me on here')).toBe(true);
    const first = (await readRun(db, run))?.cancelled;
    expect(await cancelRun(db, run, 'you on there')).toBe(true);
    expect((await readRun(db, run))?.cancelled).toEqual(first);
    expect((await readRun(db, run))?.origin).toMatchObject({ host: 'here', cancelledBy: 'me on here' });
    await endRun(db, term, { exit: 3, outcomes: { hero: 'failed' } });
    expect(await cancelRun(db, run, 'me on here')).toBe(false);
    expect(await openRunsOf(db, account)).toEqual([]);
    expect(await readRun(db, run)).toMatchObject({ state: 'ended', result: { exit: 3 } });
  });

  test('takes its bodies and links along when it ends, and nothing when its head is another', async () => {
    const { db, run, term, loseHead } = await runHere();
    await openBodies(db, term, makeSeal('key_live_one')).keep('k', '{"link":"signed"}');
    await db.query("INSERT INTO mediabatch.file (id, run, state, task) VALUES ('f', $1, 'wanted', 'sealed')", [run]);
    await loseHead();
    await expect(endRun(db, term, { exit: 0, outcomes: {} })).rejects.toThrow(HeadLostError);
    expect(await readRun(db, run)).toMatchObject({ state: 'open', result: null });
    expect(await count(db, 'mediabatch.body')).toBe(1);
    expect(await count(db, 'mediabatch.file WHERE task IS NOT NULL')).toBe(1);
    await endRun(db, { ...term, epoch: 2 }, { exit: 0, outcomes: {} });
    expect(await count(db, 'mediabatch.body')).toBe(0);
    expect(await count(db, 'mediabatch.file WHERE task IS NOT NULL')).toBe(0);
  });

  test('knows how its orders have ended: the first word counts, and only that of its head', async () => {
    const { db, run, term, loseHead } = await runHere();
    const done: StepEnd = { outcome: 'done', credits: 4 };
    await writeEnds(db, term, new Map([['hero', done]]));
    await writeEnds(
      db,
      term,
      new Map<string, StepEnd>([
        ['hero', { outcome: 'failed', credits: 0 }],
        ['logo', done],
      ]),
    );
    await loseHead();
    await expect(writeEnds(db, term, new Map([['late', done]]))).rejects.toThrow(HeadLostError);
    expect(await readEnds(db, run)).toEqual(
      new Map([
        ['hero', done],
        ['logo', done],
      ]),
    );
  });

  test('tells its events in order, a few rows for many, until its head is another', async () => {
    const { db, run, term, loseHead } = await runHere();
    const lost: unknown[] = [];
    const writer = new EventWriter(db, term, (error) => lost.push(error));
    for (const event of events(0, 1000)) writer.add(event);
    await writer.flush();
    expect(await readEvents(db, run)).toMatchObject({ events: events(0, 1000) });
    expect(await count(db, 'mediabatch.event')).toBeLessThanOrEqual(4);
    const { next } = await readEvents(db, run);
    for (const event of events(1000, 3)) writer.add(event);
    await writer.flush();
    expect((await readEvents(db, run, next)).events).toEqual(events(1000, 3));
    await loseHead();
    for (const event of events(2000, 3)) writer.add(event);
    await writer.flush();
    expect(lost).toEqual([expect.any(HeadLostError)]);
    expect((await readEvents(db, run, next)).events).toEqual(events(1000, 3));
  });

  test('keeps bodies that only the same key can read, for its head alone', async () => {
    const { db, term, loseHead } = await runHere();
    const bodies = openBodies(db, term, makeSeal('key_live_one'));
    await bodies.keep('k', 'a signed link');
    expect(await bodies.read('k')).toBe('a signed link');
    expect(await openBodies(db, term, makeSeal('key_live_two')).read('k')).toBeUndefined();
    const [row] = await db.query<{ sealed: Buffer }>('SELECT sealed FROM mediabatch.body');
    expect(row?.sealed.toString('latin1')).not.toContain('signed');
    await bodies.drop('k');
    expect(await bodies.read('k')).toBeUndefined();
    await loseHead();
    await expect(bodies.keep('k', 'late')).rejects.toThrow(HeadLostError);
    await expect(bodies.drop('k')).rejects.toThrow(HeadLostError);
  });
});

describe('the tables', () => {
  test('are made once by many at once, and a second time nothing happens', async () => {
    const { database } = await openFresh();
    const migrateAtOnce = () => Promise.all(Array.from({ length: 5 }, () => migrate(database)));
    await migrateAtOnce();
    // These connections remember what is gone.
    await database.query('DROP SCHEMA mediabatch CASCADE');
    await migrateAtOnce();
    await migrate(database);
    expect(await count(database, 'mediabatch.meta')).toBe(1);
  });

  test('of a newer version are refused and left alone', async () => {
    const { database } = await openFresh();
    await database.query('UPDATE mediabatch.meta SET version = 1000');
    await expect(migrate(database)).rejects.toMatchObject({
      failure: { code: 'MB3703', message: expect.stringContaining('version 1000') },
    });
    expect(await database.query('SELECT version FROM mediabatch.meta')).toEqual([{ version: 1000 }]);
  });
});
