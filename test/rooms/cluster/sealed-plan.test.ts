import { expect, test, vi } from 'vitest';
import type { Database } from '../../../src/cluster/database/database.ts';
import { readHeader, readOrders, type Submission } from '../../../src/cluster/runs/run-record.ts';
import { submitRun } from '../../../src/cluster/runs/runs.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import type { StepOrder } from '../../../src/plan/plan.ts';
import { headHere, known, submission, submittedHere } from './engine-here.ts';

const account = 'a'.repeat(32);
const seal = makeSeal('key');
const words = 'a cat on a roof';

/** A run of 250 orders, which stand in two parts. */
function withOrders(campaign: string): Submission {
  const orders = Array.from({ length: 250 }, (_, n) => ({ address: `hero@${n}`, prompt: words }));
  const header = { plan: { campaign, rows: [] }, orders: orders.length, createRoutes: { image: '/images' } };
  const run = { ...submission({ account, campaign, store: 's' }), header, orders, totals: { cap: 100 } };
  return run as unknown as Submission;
}

async function submitTwo() {
  const { db, boss, id } = await submittedHere(withOrders('spring'));
  const { id: other } = await submitRun(db, boss, withOrders('summer'));
  return { db, boss, id, other };
}

async function ordersOf(db: Database, id: string): Promise<StepOrder[]> {
  const orders: StepOrder[] = [];
  for await (const order of readOrders(db, { id, campaign: 'spring', seal })) orders.push(order);
  return orders;
}

const isChanged = { failure: { code: 'MB3704', message: expect.stringContaining('was changed in the database') } };

test('what is to be bought stands in the database for holders of the key alone', async () => {
  const { db, id } = await submitTwo();
  expect((await readHeader(db, seal, await known(db, id))).createRoutes).toEqual({ image: '/images' });
  expect(await ordersOf(db, id)).toHaveLength(250);
  const rows = await db.query<{ text: string }>(
    `SELECT encode(header, 'escape') AS text FROM mediabatch.run
     UNION ALL SELECT encode(orders, 'escape') FROM mediabatch.part`,
  );
  for (const word of [words, 'hero@1', '/images']) expect(rows.filter(({ text }) => text.includes(word))).toEqual([]);
  await expect(readHeader(db, makeSeal('another key'), await known(db, id))).rejects.toMatchObject(isChanged);
});

test.each([
  ['the ceiling', `totals = '{"cap": 100000}'`],
  ['a time-out', `settings = settings || '{"createTimeoutMs": 1}'`],
  ['what is sent without an answer', `settings = settings || '{"onUnknown": "hold"}'`],
  ['the store', "store = 't'"],
  ['the header, by that of another run', "header = (SELECT header FROM mediabatch.run WHERE campaign = 'summer')"],
  ['a byte of the header', 'header = set_byte(header, 40, get_byte(header, 40) # 1)'],
])('I50 a run does not go on after somebody has changed %s of it in the database', async (_, change) => {
  const { db, id } = await submitTwo();
  await db.query(`UPDATE mediabatch.run SET ${change} WHERE id = $1`, [id]);
  await expect(readHeader(db, seal, await known(db, id))).rejects.toMatchObject(isChanged);
});

test.each([
  ['those of another run', 'WHERE run = $2 AND no = 0) WHERE run = $1 AND no = 0'],
  ['its own at another place', 'WHERE run = $1 AND no = 0) WHERE run = $1 AND no = 1 AND $2 <> run'],
])('I50 orders that are %s are not carried out', async (_, where) => {
  const { db, id, other } = await submitTwo();
  const change = `UPDATE mediabatch.part SET orders = (SELECT orders FROM mediabatch.part ${where}`;
  await db.query(change, [id, other]);
  await expect(ordersOf(db, id)).rejects.toMatchObject(isChanged);
});

test('I50 a run whose orders are missing is deferred', async () => {
  const { db, boss, id } = await submittedHere(withOrders('spring'));
  await db.query('DELETE FROM mediabatch.part WHERE no = 1');
  await headHere({ db, boss }, { account, seal });
  await vi.waitFor(async () => expect((await known(db, id)).error).toContain('was changed in the database'), 50_000);
});
