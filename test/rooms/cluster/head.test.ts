import { expect, onTestFinished, test } from 'vitest';
import { readEngineState } from '../../../src/cluster/engine-state.ts';
import { type Seat, takeSeat } from '../../../src/cluster/head/account.ts';
import { Head } from '../../../src/cluster/head/head.ts';
import { sealHeader } from '../../../src/cluster/runs/header.ts';
import type { RunHeader, Submission } from '../../../src/cluster/runs/run-record.ts';
import { cancelRun, readRun, submitRun } from '../../../src/cluster/runs/runs.ts';
import { watchRun } from '../../../src/cluster/runs/watch-run.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import type { WorkerNews } from '../../../src/contract/engine-state.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);
type Engine = Awaited<ReturnType<typeof engineHere>>;

/** A run whose plan has nothing to buy. */
function empty(campaign: string): Submission {
  const totals = { orders: 0, minCredits: 0, maxCredits: 0, held: 0, cap: null, unknown: 0 };
  const plan = { campaign, concurrency: 1, rows: [], totals, prices: {}, orphans: [] };
  const header = { plan, orders: 0, outline: { tasks: [], addresses: [] }, createRoutes: {}, prices: {} };
  return {
    ...submission({ account, campaign }),
    totals: totals as unknown as Submission['totals'],
    header: header as unknown as RunHeader,
  };
}

async function headOf({ db, boss }: Engine) {
  const seat = await takeSeat({ db, boss, account, worker: 'one' });
  if (seat === undefined) throw new Error('the seat is not free');
  const end = new AbortController();
  const news: WorkerNews[] = [];
  let minutes = 0;
  const head = new Head({
    ...{ db, boss, account, seat, signal: end.signal, own: undefined, replays: 'yes', accountOf: () => undefined },
    access: { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key' },
    seal: makeSeal('key'),
    clock: { ...systemClock, now: () => systemClock.now() + minutes * 60_000 },
    redact: (text) => text.replaceAll('secret', '[key]'),
    onSize: () => {},
    tell: (one) => news.push(one),
  });
  const running = head.run();
  running.catch(() => {});
  onTestFinished(async () => {
    end.abort();
    await running.catch(() => {});
    seat.lease.lose();
  });
  const pass = () => {
    minutes += 1;
  };
  return { seat, news, running, end, pass };
}

/** Follows a run until it has ended or was put aside. */
const outcomeOf = ({ db }: Engine, id: string) =>
  watchRun(db, id, { signal: new AbortController().signal, onLines: async () => 0, onEvents: () => {} });

const timeoutOf = async ({ db }: Engine, seat: Seat) =>
  (
    await db.query<{ ms: number }>('SELECT create_timeout_ms AS ms FROM mediabatch.account WHERE epoch = $1', [
      seat.epoch,
    ])
  )[0]?.ms;

test.each([
  ['a damaged lock', (run: Submission) => ({ ...run, lines: ['{"step":"secret\n'] })],
  ['a header that nobody can read', (run: Submission) => ({ ...run, header: {} as RunHeader })],
])('a run with %s is put aside, and the others go on', async (_name, damage) => {
  const engine = await engineHere();
  const bad = await submitRun(engine.db, engine.boss, damage(empty('bad')));
  const good = await submitRun(engine.db, engine.boss, empty('good'));
  const { news } = await headOf(engine);
  expect(await outcomeOf(engine, good.id)).toMatchObject({ state: 'ended', result: { exit: 0 }, error: null });
  const seen = await outcomeOf(engine, bad.id);
  expect(seen).toMatchObject({ state: 'open', error: expect.any(String) });
  expect(JSON.stringify(seen)).not.toContain('secret');
  expect(news.filter(({ is }) => is === 'put aside')).toEqual([
    expect.objectContaining({ is: 'put aside', campaign: 'bad', run: bad.id }),
  ]);
  const { runs } = await readEngineState(engine.db);
  expect(runs.find(({ id }) => id === bad.id)).toMatchObject({ state: 'open', error: expect.any(String) });
  // What comes later is not kept waiting either.
  const later = await submitRun(engine.db, engine.boss, empty('later'));
  expect(await outcomeOf(engine, later.id)).toMatchObject({ state: 'ended', result: { exit: 0 } });
});

test('a run that was put aside is tried again after a while, and goes on when it can', async () => {
  const engine = await engineHere();
  const run = empty('bad');
  const { id } = await submitRun(engine.db, engine.boss, { ...run, header: {} as RunHeader });
  const { running, pass } = await headOf(engine);
  expect(await outcomeOf(engine, id)).toMatchObject({ state: 'open' });
  const header = sealHeader(run.seal, run.header, run);
  await engine.db.query('UPDATE mediabatch.run SET header = $2 WHERE id = $1', [id, header]);
  pass();
  await running;
  expect(await readRun(engine.db, id)).toMatchObject({ state: 'ended', error: null, result: { exit: 0 } });
});

test('whoever takes over waits for the longest create, of a run submitted later as well', async () => {
  const engine = await engineHere();
  const { id } = await submitRun(engine.db, engine.boss, { ...empty('first'), header: {} as RunHeader });
  const { seat } = await headOf(engine);
  await outcomeOf(engine, id);
  expect(await timeoutOf(engine, seat)).toBe(7000);
  const run = empty('patient');
  const patient = await submitRun(engine.db, engine.boss, {
    ...run,
    settings: { ...run.settings, createTimeoutMs: 90_000 },
  });
  await outcomeOf(engine, patient.id);
  // That run has ended; what was sent under its time-out may still be on its way.
  await cancelRun(engine.db, id, 'me on here');
  await engine.db.query(`UPDATE mediabatch_queue.job SET state = 'retry' WHERE state = 'active'`);
  const next = await takeSeat({ db: engine.db, boss: engine.boss, account, worker: 'two' });
  onTestFinished(() => next?.lease.lose());
  expect(next?.waitMs()).toBeGreaterThan(90_000);
});
