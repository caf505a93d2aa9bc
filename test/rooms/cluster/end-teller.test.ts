import { expect, test } from 'vitest';
import { endRun, submitRun } from '../../../src/cluster/runs/runs.ts';
import { EndTeller, type TellEnd } from '../../../src/cluster/worker/end-teller.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import type { WorkerNews } from '../../../src/contract/engine-state.ts';
import { HeadLostError } from '../../../src/contract/errors.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);
const result = { exit: 0, outcomes: {} } as const;

/** Runs that have ended, and whoever tells it. */
async function endsHere() {
  const { db, boss } = await engineHere();
  const told: string[] = [];
  const news: WorkerNews[] = [];
  const hear: TellEnd = async ({ campaign, exit }) => void told.push(`${campaign} ${exit}`);
  const teller = (tellEnd = hear) =>
    new EndTeller({ db, account, clock: systemClock, tell: (one) => news.push(one), tellEnd });
  const begin = async (campaign: string) => {
    const { id: run } = await submitRun(db, boss, submission({ account, campaign }));
    await db.query('UPDATE mediabatch.account SET epoch = 1');
    return { account, epoch: 1, run };
  };
  const end = async (campaign: string, isToBeTold = true) => endRun(db, await begin(campaign), result, { isToBeTold });
  const passMinute = () => db.query("UPDATE mediabatch.run SET notice = notice - interval '1 minute'");
  return { db, told, news, teller, begin, end, passMinute };
}

test('each end is told once, whoever looks, and only where somebody is to be told', async () => {
  const { told, teller, end } = await endsHere();
  await end('lamp');
  await end('vase');
  await end('toy', false);
  await Promise.all([teller(), teller(), teller()].map((one) => one.tellDue()));
  await teller().tellDue();
  expect(told.toSorted()).toEqual(['lamp 0', 'vase 0']);
});

test('what a worker was telling when it died is told by the next one, a minute later', async () => {
  const { told, teller, end, passMinute } = await endsHere();
  await end('lamp');
  let begun = () => {};
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  void teller(() => {
    begun();
    return new Promise(() => {});
  }).tellDue();
  await isBegun;
  await teller().tellDue();
  expect(told).toEqual([]);
  await passMinute();
  await teller().tellDue();
  await passMinute();
  await teller().tellDue();
  expect(told).toEqual(['lamp 0']);
});

test('what nobody has heard is said, and told again', async () => {
  const { told, news, teller, end, passMinute } = await endsHere();
  await end('lamp');
  await teller(() => Promise.reject(new Error('HTTP 503, 3 times'))).tellDue();
  expect(news).toEqual([{ is: 'not told', campaign: 'lamp', error: 'HTTP 503, 3 times' }]);
  await passMinute();
  await teller().tellDue();
  expect(told).toEqual(['lamp 0']);
});

test('the end that a head could not put on record any more is that of the next one', async () => {
  const { db, told, teller, begin } = await endsHere();
  const term = await begin('lamp');
  await db.query('UPDATE mediabatch.account SET epoch = 2');
  await expect(endRun(db, term, result, { isToBeTold: true })).rejects.toThrow(HeadLostError);
  await teller().tellDue();
  expect(told).toEqual([]);
  await endRun(db, { ...term, epoch: 2 }, { ...result, exit: 3 }, { isToBeTold: true });
  await teller().tellDue();
  expect(told).toEqual(['lamp 3']);
});

test('a worker that ends tells what has ended by then', async () => {
  const { told, teller, end } = await endsHere();
  const ending = new AbortController();
  const telling = teller().keepTelling(ending.signal);
  await end('lamp');
  ending.abort();
  await telling;
  expect(told).toEqual(['lamp 0']);
});
