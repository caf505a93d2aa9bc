import { expect, onTestFinished, test, vi } from 'vitest';
import { warnNoWorker } from '../../../src/campaign/on-engine/watch-engine.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { readEngineState } from '../../../src/cluster/engine-state.ts';
import type { Leadership } from '../../../src/cluster/leader/account.ts';
import { endRun, submitRun } from '../../../src/cluster/runs/runs.ts';
import { openOperatorPort } from '../../../src/cluster/worker/start-worker.ts';
import { type WorkerOptions, work } from '../../../src/cluster/worker/worker.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import type { WorkerEvent } from '../../../src/contract/engine-state.ts';
import { LeadershipLostError } from '../../../src/contract/errors.ts';
import type { Notice } from '../../../src/contract/notice.ts';
import { engineHere, submission, submittedHere } from './engine-here.ts';

const account = 'a'.repeat(32);
type Engine = Awaited<ReturnType<typeof engineHere>>;

/** A worker whose head does what the test says; it ends with the test. */
function startWorker({ db, boss }: Engine, id: string, more: Partial<WorkerOptions> = {}) {
  const end = new AbortController();
  const news: WorkerEvent[] = [];
  const seats: { leadership: Leadership; signal: AbortSignal; finish: () => void; fail: (error: Error) => void }[] = [];
  const changes: (() => void)[] = [];
  const changed = () => {
    for (const change of changes.splice(0)) change();
  };
  const ended = work({
    ...{ db, boss, clock: systemClock, id, account, version: '1.2.3' },
    ...{ files: 0, signal: end.signal, exitWhenIdle: false, parts: [] },
    redact: (text) => text.replaceAll('secret', '[key]'),
    log(one) {
      news.push(one);
      changed();
    },
    makeLeader: (leadership, signal) => ({
      run: () =>
        new Promise<void>((finish, fail) => {
          seats.push({ leadership, signal, finish, fail });
          if (signal.aborted) finish();
          signal.addEventListener('abort', () => finish(), { once: true });
          changed();
        }),
    }),
    ...more,
  });
  const stop = async (reason = 'SIGTERM') => {
    end.abort(reason);
    await ended;
  };
  onTestFinished(() => stop());
  /** Resolves as soon as something of it is true; each change is looked at. */
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise<void>((resolve) => changes.push(resolve));
  };
  return { news, seats, until, stop, ended };
}

async function seatOf(worker: ReturnType<typeof startWorker>, nth = 0) {
  await worker.until(() => worker.seats.length > nth);
  const leadership = worker.seats[nth];
  if (leadership === undefined) throw new Error('no leadership');
  return leadership;
}

const end = ({ db }: Engine, leadership: Leadership, run: string) =>
  endRun(db, { account, epoch: leadership.epoch, run }, { exit: 0, outcomes: {} });

const heads = (workers: ReturnType<typeof startWorker>[]) => workers.filter(({ seats }) => seats.length > 0);

test('of two workers one is the head; asked to end it hands over, and the other goes on with the next epoch', async () => {
  const { engine } = await submittedHere(submission({ account }));
  const workers = [startWorker(engine, 'one'), startWorker(engine, 'two')];
  await Promise.race(workers.map((worker) => seatOf(worker)));
  expect(heads(workers)).toHaveLength(1);
  const [first] = heads(workers);
  const second = workers.find((worker) => worker !== first);
  if (first === undefined || second === undefined) throw new Error('no head');
  await first.stop();
  expect(first.news.map(({ event }) => event)).toEqual(['leader', 'leader-left', 'ending']);
  expect(first.news).toContainEqual({ event: 'leader-left', why: 'handed over' });
  const { leadership } = await seatOf(second);
  expect(leadership.waitMs()).toBe(0);
});

test('what is submitted while nobody is the head wakes a worker, and with the last run its leadership is free', async () => {
  const engine = await engineHere();
  const worker = startWorker(engine, 'one');
  const { id } = await submitRun(engine.db, engine.boss, submission({ account }));
  const { leadership, finish } = await seatOf(worker);
  await end(engine, leadership, id);
  finish();
  await worker.until(() => worker.news.some(({ event }) => event === 'leader-left'));
  expect(worker.news.at(-1)).toEqual({ event: 'leader-left', why: 'no run is open' });
});

test('a head that another has taken over becomes a worker like any other, and its lease is never fresh again', async () => {
  const { engine, id } = await submittedHere(submission({ account }));
  const worker = startWorker(engine, 'one');
  const { leadership, fail } = await seatOf(worker);
  // Somebody else was the head in between, and left.
  await engine.db.query('UPDATE mediabatch.account SET epoch = epoch + 1');
  await engine.db.query(`UPDATE mediabatch_queue.job SET state = 'retry' WHERE state = 'active'`);
  fail(new LeadershipLostError());
  const again = await seatOf(worker, 1);
  expect(leadership.lease.isFresh()).toBe(false);
  expect(again.leadership.epoch).toBeGreaterThan(leadership.epoch + 1);
  expect(worker.news).toContainEqual({ event: 'leader-left', why: 'taken over' });
  await end(engine, again.leadership, id);
});

test.each(['before', 'after'])('a worker that is stopped %s its server goes away ends', async (order) => {
  const never = () => new Promise<never>(() => {});
  let awaySince: number | undefined;
  const db: Database = {
    ...{ query: never, transaction: never, persist: never, ask: never },
    listen: () => () => {},
    get unreachableSince() {
      return awaySince;
    },
    close: async () => {},
  };
  const worker = startWorker({ db, boss: {} } as Engine, 'one');
  if (order === 'after') awaySince = 1;
  const stopped = worker.stop();
  awaySince = 1;
  await stopped;
  expect(worker.news).toEqual([{ event: 'ending', because: 'SIGTERM' }]);
});

test('a head that fails says so without secrets, gives the leadership back, and is tried again', async () => {
  const { engine } = await submittedHere(submission({ account }));
  const worker = startWorker(engine, 'one', {
    clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal) },
  });
  const { fail } = await seatOf(worker);
  fail(new Error('it broke with secret'));
  await worker.until(() => worker.news.some(({ event }) => event === 'failed'));
  expect(worker.news).toContainEqual({ event: 'failed', error: 'it broke with [key]', againAfterMs: 2000 });
  expect((await readEngineState(engine.db)).accounts).toMatchObject([{ error: 'it broke with [key]' }]);
  const { leadership } = await seatOf(worker, 1);
  // It may have left something on its way.
  expect(leadership.waitMs()).toBeGreaterThan(0);
});

test.each([
  ['of another key or service', { account: 'b'.repeat(32) }, 'account'],
  ['older', { protocol: 0 }, 'protocol'],
  ['newer', { protocol: 2 }, 'protocol'],
  ['with another store', { store: 'mine' }, 'store'],
])('a worker %s takes nothing, and says why', async (_name, more, why) => {
  const { engine } = await submittedHere(submission({ account, store: 'theirs' }));
  const worker = startWorker(engine, 'one', more);
  await worker.until(() => worker.news.length > 0);
  await worker.stop();
  expect(worker.seats).toEqual([]);
  expect(worker.news).toEqual([
    { event: 'not-runnable', why },
    { event: 'ending', because: 'SIGTERM' },
  ]);
});

test('with --exit-when-idle a worker ends by itself when no run is open', async () => {
  const { engine, id } = await submittedHere(submission({ account }));
  const worker = startWorker(engine, 'one', { exitWhenIdle: true });
  const { leadership, finish } = await seatOf(worker);
  await end(engine, leadership, id);
  finish();
  await worker.ended;
  expect(worker.news.at(-1)).toEqual({ event: 'ending', because: 'no run is open' });
  expect((await readEngineState(engine.db)).workers).toEqual([]);
});

test('a worker that drains goes on until no run is open', async () => {
  const { engine, id } = await submittedHere(submission({ account }));
  const drain = new AbortController();
  const worker = startWorker(engine, 'one', { drain: drain.signal });
  const { leadership, signal, finish } = await seatOf(worker);
  drain.abort('SIGTERM');
  await worker.until(() => worker.news.some(({ event }) => event === 'draining'));
  expect(signal.aborted).toBe(false);
  await end(engine, leadership, id);
  finish();
  await worker.ended;
  expect(worker.news.at(-1)).toEqual({ event: 'ending', because: 'no run is open' });
});

test('a head that is asked to end says what it waits for, and is shown until then', async () => {
  const { engine } = await submittedHere(submission({ account }));
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const worker = startWorker(engine, 'one', { makeLeader: () => ({ creates: () => 3, run: () => answered }) });
  await worker.until(() => worker.news.some(({ event }) => event === 'leader'));
  await expect.poll(async () => (await readEngineState(engine.db)).workers).toHaveLength(1);
  const stopped = worker.stop();
  await worker.until(() => worker.news.some(({ event }) => event === 'leaving'));
  expect(worker.news.at(-1)).toEqual({ event: 'leaving', because: 'SIGTERM', creates: 3 });
  expect((await readEngineState(engine.db)).workers).toMatchObject([{ id: 'one', isHead: true }]);
  answer();
  await stopped;
  expect((await readEngineState(engine.db)).workers).toEqual([]);
});

async function addWorker(db: Database, id: string, pid: number): Promise<void> {
  await db.query(
    `INSERT INTO mediabatch.worker (id, account, host, pid, protocol, version, store, files)
     VALUES ($1, $2, 'here', $3, 1, '0', 's', 8)`,
    [id, account, pid],
  );
}

/** Watches a run from when it is submitted. `looks`: waits until so many more have ended. */
async function watchRun({ store = null, protocol = 1 }: { store?: string | null; protocol?: number }) {
  const { db, id } = await submittedHere(submission({ account, store }));
  await db.query('UPDATE mediabatch.run SET protocol = $1', [protocol]);
  const told: Notice[] = [];
  const leaving = new AbortController();
  let count = 0;
  const sleep = async () => {
    count += 1;
    await systemClock.sleep(1);
  };
  const notifier = warnNoWorker(
    { database: db, shown: 'here' },
    { notify: (news: Notice) => told.push(news), signal: leaving.signal, run: id },
    { ...systemClock, sleep },
  );
  onTestFinished(async () => {
    leaving.abort();
    await notifier;
  });
  const looks = async (more: number) => {
    const from = count;
    await vi.waitFor(() => expect(count).toBeGreaterThanOrEqual(from + more), { timeout: 50_000, interval: 1 });
  };
  return { db, told, looks };
}

/** What is told of a run while no worker but this one lives. */
async function toldOf(of: { store?: string | null; protocol?: number }): Promise<Notice[]> {
  const { db, told, looks } = await watchRun(of);
  await addWorker(db, 'one', 11);
  await looks(30);
  return told;
}

test('a worker that begins with the run is waited for before anybody says that there is none', async () => {
  expect(await toldOf({ store: 's' })).toEqual([]);
  expect(await toldOf({})).toEqual([]);
});

test('that the last worker has ended is told, each time', async () => {
  const { db, told, looks } = await watchRun({});
  for (const times of [1, 2]) {
    await addWorker(db, 'one', 11);
    await looks(2);
    expect(told).toHaveLength(times - 1);
    await db.query('DELETE FROM mediabatch.worker');
    await looks(30);
    expect(told).toHaveLength(times);
  }
  expect(told[1]).toMatchObject({
    text: expect.stringMatching(/^no worker of this account runs on here: the run waits/),
  });
});

test('a worker that has another store, or another version, takes nothing of the run: that is told', async () => {
  const [store, version] = await Promise.all([toldOf({ store: 'other' }), toldOf({ protocol: 2 })]);
  const why = expect.stringMatching(
    /^none of the workers of this account on here can execute the run, because their store or version differs/,
  );
  expect(store).toMatchObject([{ text: why }]);
  expect(version).toMatchObject([{ text: why }]);
});

async function opened() {
  const port = await openOperatorPort({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => port.close());
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port.port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  return { port, get };
}

const started = { event: 'started', worker: 'w', account, service: 's', server: 'db', files: 8 } as const;

test('a worker lives at once, and is ready while it works and its server answers', async () => {
  const { port, get } = await opened();
  expect([(await get('/healthz')).status, (await get('/readyz')).status]).toEqual([200, 503]);
  // A new installation has no store before its first `apply`.
  port.note({ event: 'no-store', why: 'no marker' });
  expect((await get('/readyz')).status).toBe(200);
  port.note(started);
  expect((await get('/readyz')).status).toBe(200);
  port.note({ event: 'server-away', error: 'refused' });
  expect(await get('/readyz')).toEqual({ status: 503, text: 'the engine does not answer: refused\n' });
  port.note({ event: 'server-back' });
  expect((await get('/readyz')).status).toBe(200);
  port.note({ event: 'ending', because: 'SIGTERM' });
  expect([(await get('/readyz')).status, (await get('/healthz')).status]).toEqual([503, 200]);
  expect((await get('/other')).status).toBe(404);
});

test('a worker is not ready while a run of its account lacks something that no living worker has', async () => {
  const { db, boss } = await engineHere();
  const { port, get } = await opened();
  port.watch({ db, account });
  port.note(started);
  await submitRun(db, boss, submission({ account: 'b'.repeat(32) }));
  expect((await get('/readyz')).status).toBe(200);
  const { id } = await submitRun(db, boss, submission({ account }));
  expect(await get('/readyz')).toEqual({ status: 503, text: `run ${id} of spring lacks a worker\n` });
});

test('a port that is taken is named', async () => {
  const { port } = await opened();
  await expect(openOperatorPort({ port: port.port, host: '127.0.0.1' })).rejects.toMatchObject({
    failure: { code: 'MB3303', message: expect.stringContaining(`port ${port.port}`) },
  });
});
