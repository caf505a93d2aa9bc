import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Boss, leaderQueue, leaderQueueOptions } from '../../../src/cluster/database/boss.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { readEngineState } from '../../../src/cluster/engine-state.ts';
import {
  type LeaderBoss,
  type Leadership,
  leaseMs,
  offerLeadership,
  takeLeadership,
} from '../../../src/cluster/leader/account.ts';
import { type RunHeader, type Submission, sealHeader } from '../../../src/cluster/runs/run-record.ts';
import { actOn, endRun, openRunsOf, readRun, submitRun } from '../../../src/cluster/runs/runs.ts';
import { watchRun } from '../../../src/cluster/runs/watch-run.ts';
import { accountOf, makeSeal } from '../../../src/cluster/seal.ts';
import { keepHouse } from '../../../src/cluster/worker/start-worker.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import type { WorkerEvent } from '../../../src/contract/engine-state.ts';
import { makeTrial } from '../../rig/trial.ts';
import { engineHere, headHere, nothingToDo, submission, submittedHere } from './engine-here.ts';

const account = 'a'.repeat(32);
type Engine = Awaited<ReturnType<typeof engineHere>>;

const empty = (campaign: string) => nothingToDo({ account, campaign });

async function headOf(engine: Engine) {
  const news: WorkerEvent[] = [];
  let minutes = 0;
  const { leadership, running } = await headHere(engine, {
    account,
    clock: { ...systemClock, now: () => systemClock.now() + minutes * 60_000 },
    redact: (text) => text.replaceAll('secret', '[key]'),
    log: (one) => news.push(one),
  });
  const pass = () => {
    minutes += 1;
  };
  return { leadership, news, running, pass };
}

/** Follows a run until it has ended or was deferred. */
const outcomeOf = ({ db }: Engine, id: string) =>
  watchRun(db, id, { signal: new AbortController().signal, onLines: async () => 0, onEvents: () => {} });

test.each([
  ['a damaged lock', (run: Submission) => ({ ...run, lines: ['{"step":"secret\n'] })],
  ['a header that nobody can read', (run: Submission) => ({ ...run, header: {} as RunHeader })],
])('a run with %s is deferred, and the others go on', async (_name, damage) => {
  const engine = await engineHere();
  const bad = await submitRun(engine.db, engine.boss, damage(empty('bad')));
  const good = await submitRun(engine.db, engine.boss, empty('good'));
  const { news } = await headOf(engine);
  expect(await outcomeOf(engine, good.id)).toMatchObject({ state: 'ended', result: { exit: 0 }, error: null });
  const seen = await outcomeOf(engine, bad.id);
  expect(seen).toMatchObject({ state: 'open', error: expect.any(String) });
  expect(JSON.stringify(seen)).not.toContain('secret');
  expect(news.filter(({ event }) => event === 'run-deferred')).toEqual([
    expect.objectContaining({ event: 'run-deferred', campaign: 'bad', run: bad.id }),
  ]);
  const { runs } = await readEngineState(engine.db);
  expect(runs.find(({ id }) => id === bad.id)).toMatchObject({ state: 'open', error: expect.any(String) });
  // What comes later is not kept waiting either.
  const later = await submitRun(engine.db, engine.boss, empty('later'));
  expect(await outcomeOf(engine, later.id)).toMatchObject({ state: 'ended', result: { exit: 0 } });
});

test('a run that was deferred is tried again after a while, and goes on when it can', async () => {
  const run = empty('bad');
  const { engine, id } = await submittedHere({ ...run, header: {} as RunHeader });
  const { running, pass } = await headOf(engine);
  expect(await outcomeOf(engine, id)).toMatchObject({ state: 'open' });
  const header = sealHeader(run.seal, run.header, run);
  await engine.db.query('UPDATE mediabatch.run SET header = $2 WHERE id = $1', [id, header]);
  pass();
  await running;
  expect(await readRun(engine.db, id)).toMatchObject({ state: 'ended', error: null, result: { exit: 0 } });
});

test('the next head waits for the longest create, also of a run submitted later', async () => {
  const { engine, id } = await submittedHere({ ...empty('first'), header: {} as RunHeader });
  const { leadership } = await headOf(engine);
  await outcomeOf(engine, id);
  const text = 'SELECT create_timeout_ms AS ms FROM mediabatch.account WHERE epoch = $1';
  expect(await engine.db.query(text, [leadership.epoch])).toEqual([{ ms: 7000 }]);
  const run = empty('patient');
  const settings = { ...run.settings, createTimeoutMs: 90_000 };
  const patient = await submitRun(engine.db, engine.boss, { ...run, settings });
  await outcomeOf(engine, patient.id);
  // That run has ended; what was sent under its time-out may still be on its way.
  await actOn(engine.db, id, { act: 'cancel', by: 'me on here' });
  await engine.db.query(`UPDATE mediabatch_queue.job SET state = 'retry' WHERE state = 'active'`);
  const next = await takeLeadership({ db: engine.db, boss: engine.boss, account, worker: 'two' });
  onTestFinished(() => next?.lease.lose());
  expect(next?.waitMs()).toBeGreaterThan(90_000);
});

const [working, over] = ['a'.repeat(32), 'b'.repeat(32)];

/** One round, as a worker of the first account keeps house. */
async function keepOnce({ db, boss }: Awaited<ReturnType<typeof engineHere>>, keepMs?: number): Promise<void> {
  const ending = new AbortController();
  const clock = { ...systemClock, sleep: async () => ending.abort() };
  await keepHouse({ db, boss, clock, account: working, keepMs, isQuiet: () => true, signal: ending.signal });
}

const queues = (db: Database) =>
  db.query<{ name: string }>("SELECT name FROM mediabatch_queue.queue WHERE name LIKE '%-v%' ORDER BY name");

test('queues of an account go when no run of it is open, and no worker could look at them', async () => {
  const { engine, db, boss } = await submittedHere(submission({ account: working }));
  await db.query('INSERT INTO mediabatch.account (id) VALUES ($1)', [over]);
  await boss.createQueue(leaderQueue(over), leaderQueueOptions);
  await keepOnce(engine);
  expect(await queues(db)).toHaveLength(2);
  await db.query("UPDATE mediabatch_queue.queue SET created_on = created_on - interval '1 hour'");
  await keepOnce(engine);
  expect(await queues(db)).toEqual([{ name: leaderQueue(working) }]);
  // Whoever submits again makes it again.
  await submitRun(db, boss, submission({ account: over }));
  expect(await queues(db)).toHaveLength(2);
});

test('ended runs go after the time that was said, and otherwise never', async () => {
  const engine = await engineHere();
  const { db, boss } = engine;
  for (const campaign of ['old', 'new', 'open']) await submitRun(db, boss, submission({ account: working, campaign }));
  await db.query("UPDATE mediabatch.run SET state = 'ended', ended = now() WHERE campaign <> 'open'");
  await db.query("UPDATE mediabatch.run SET ended = ended - interval '40 days' WHERE campaign = 'old'");
  const left = () => db.query('SELECT campaign FROM mediabatch.run ORDER BY campaign');
  await keepOnce(engine);
  expect(await left()).toHaveLength(3);
  await keepOnce(engine, 30 * 86_400_000);
  expect(await left()).toEqual([{ campaign: 'new' }, { campaign: 'open' }]);
});

describe('the leadership of an account’s head', () => {
  let db: Database;
  let boss: Boss;
  beforeEach(async () => {
    ({ db, boss } = await engineHere());
  });

  const submit = (campaign = 'spring') => submitRun(db, boss, submission({ account, campaign }));
  const take = (worker: string) => takeLeadership({ db, boss, account, worker });
  const taken = async (worker: string): Promise<Leadership> => {
    const leadership = await take(worker);
    if (leadership === undefined) throw new Error('the leadership is not free');
    onTestFinished(() => leadership.lease.lose());
    return leadership;
  };
  const accountRow = async () =>
    (await db.query<{ epoch: string; head: string | null }>('SELECT epoch, head FROM mediabatch.account'))[0];
  /** As the monitor of the queue does it after a missed heartbeat. */
  const missHeartbeat = async () => {
    await db.query(
      `UPDATE mediabatch_queue.job SET heartbeat_on = now() - interval '1 minute', state = 'retry' WHERE state = 'active'`,
    );
  };

  test('is for one worker, and free again when no run is open', async () => {
    const { id } = await submit();
    const leadership = await taken('first');
    expect(await take('second')).toBeUndefined();
    expect(leadership.lease.isFresh()).toBe(true);
    expect(await leadership.beat()).toBe(true);
    expect(await accountRow()).toEqual({ epoch: String(leadership.epoch), head: 'first' });
    await endRun(db, { account, epoch: leadership.epoch, run: id }, { exit: 0, outcomes: {} });
    expect(await leadership.leave()).toBe('no run is open');
    expect(await accountRow()).toEqual({ epoch: String(leadership.epoch), head: null });
    expect(await take('second')).toBeUndefined();
  });

  test('a head that left knows itself lost, and nothing that it says counts', async () => {
    await submit();
    const first = await taken('first');
    await missHeartbeat();
    expect(await first.beat()).toBe(false);
    const second = await taken('second');
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(await first.leave()).toBe('taken over');
    expect(await accountRow()).toEqual({ epoch: String(second.epoch), head: 'second' });
    expect(await second.beat()).toBe(true);
  });

  test('an epoch is not given out again by a database that was put back from an older copy', async () => {
    await submit();
    const [copy] = await db.query<{ epoch: string }>('SELECT epoch FROM mediabatch.account');
    const first = await taken('first');
    await missHeartbeat();
    await db.query('UPDATE mediabatch.account SET epoch = $1, head = NULL', [copy?.epoch]);
    // A second later, as a copy is never put back in less.
    await setTimeout(1000);
    const second = await taken('second');
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(await first.leave()).toBe('taken over');
  });

  test('whoever takes it over from a silent head waits out the lease and the longest create', async () => {
    await submit();
    const first = await taken('first');
    expect(first.waitMs()).toBe(0);
    await missHeartbeat();
    const second = await taken('second');
    expect(second.waitMs()).toBeGreaterThan(leaseMs);
    expect(second.waitMs()).toBeLessThanOrEqual(leaseMs + 7000);
    // It leaves before that time is over, so the next one waits for what is left of it.
    await setTimeout(100);
    const left = second.waitMs();
    expect(await second.leave()).toBe('handed over');
    const third = await taken('third');
    expect(third.waitMs()).toBeGreaterThan(leaseMs);
    expect(third.waitMs()).toBeLessThanOrEqual(left);
  });

  test('handed back it is free at once, and the next head has nothing to wait for', async () => {
    await submit();
    const first = await taken('first');
    expect(await first.leave()).toBe('handed over');
    const second = await taken('second');
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(second.waitMs()).toBe(0);
    expect(await second.leave('it broke')).toBe('handed over');
    expect((await taken('third')).waitMs()).toBeGreaterThan(leaseMs);
  });

  test('a run that is submitted while the last head leaves is not forgotten', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await submit(`first ${round}`);
      const leadership = await taken('first');
      await endRun(db, { account, epoch: leadership.epoch, run: id }, { exit: 0, outcomes: {} });
      const [, next] = await Promise.all([leadership.leave(), submit(`second ${round}`)]);
      const then = await taken('second');
      await endRun(db, { account, epoch: then.epoch, run: next.id }, { exit: 0, outcomes: {} });
      expect(await then.leave()).toBe('no run is open');
    }
  });

  test('a job that was deleted is sent again, and a waiting one stays alone', async () => {
    await submit();
    await boss.deleteAllJobs(leaderQueue(account));
    expect(await take('first')).toBeUndefined();
    await offerLeadership({ db, boss, account });
    await offerLeadership({ db, boss, account });
    await taken('first');
    expect(await take('second')).toBeUndefined();
  });

  test('a worker that was told of the job too late raises no epoch', async () => {
    await submit();
    // Its fetch is answered, and then the server is away until somebody else has the job.
    let epoch = 0;
    const late: LeaderBoss = {
      createQueue: boss.createQueue.bind(boss),
      send: boss.send.bind(boss),
      touch: boss.touch.bind(boss),
      complete: boss.complete.bind(boss),
      fail: boss.fail.bind(boss),
      fetch: (async (name: string) => {
        const jobs = await boss.fetch(name);
        await missHeartbeat();
        ({ epoch } = await taken('second'));
        return jobs;
      }) as LeaderBoss['fetch'],
    };
    expect(await takeLeadership({ db, boss: late, account, worker: 'late' })).toBeUndefined();
    expect(await accountRow()).toEqual({ epoch: String(epoch), head: 'second' });
  });
});

describe('pause', () => {
  vi.setConfig({ testTimeout: 90_000 });

  const manifest = `version: 1
name: lamp
prices: { image: 2 }
service: { concurrency: 2 }
tasks:
  hero: { kind: image, foreach: [a, b, c, d, e, f], with: { prompt: "a lamp {{row}}", resolution: 1k } }
`;

  /** A campaign that is submitted to an engine here, with the service in this process. */
  async function runHere() {
    // Jobs last until the clock of the service is put forward.
    let minutes = 0;
    const trial = await makeTrial(manifest, { service: { speed: 1, now: () => Date.now() + minutes * 60_000 } });
    const pass = () => {
      minutes += 10;
    };
    const { url, db, boss } = await engineHere();
    const { MEDIABATCH_BASE_URL: baseUrl = '', MEDIABATCH_API_KEY: token = '' } = trial.sandbox.env;
    const account = accountOf({ baseUrl, token });
    const run = (...args: string[]) => trial.run(args, { apart: true, env: { MEDIABATCH_ENGINE: url } });
    const news: WorkerEvent[] = [];
    /** The next head of the account. */
    const head = async () => {
      // Whoever was the head before is not waited for.
      await db.query(`UPDATE mediabatch_queue.job SET state = 'retry' WHERE state = 'active'`);
      const own = { account, access: { baseUrl, token }, seal: makeSeal(token) };
      const here = await headHere({ db, boss }, { ...own, log: (told) => news.push(told) });
      const beats = setInterval(
        () => void here.leadership.lease.confirm(() => here.leadership.beat()).catch(() => {}),
        1000,
      );
      onTestFinished(() => clearInterval(beats));
      const leave = () => {
        clearInterval(beats);
        return here.leave();
      };
      return { facts: () => here.head.facts(), leave };
    };
    return { db, account, run, head, pass, news, bought: () => trial.sandbox.ledger().length };
  }

  test('I51 a paused run sends nothing new, under the next head either, and goes on when it is resumed', async () => {
    const { db, account, run, head, pass, news, bought } = await runHere();
    const applied = run('apply', 'campaign.yaml', '--yes');
    await vi.waitUntil(async () => (await openRunsOf(db, account)).length === 1, { timeout: 60_000 });
    const first = await head();
    await vi.waitUntil(() => first.facts().inFlight === 2, { timeout: 60_000 });
    const paused = await run('pause', 'campaign.yaml');
    expect(paused.err).toMatch(
      /^paused the run of lamp .*\nthis run creates no jobs while paused;.*\nto continue: mediabatch resume/,
    );
    await vi.waitUntil(() => first.facts().paused === 1, { timeout: 60_000 });
    // What runs is collected, and then the run rests.
    pass();
    await vi.waitUntil(() => first.facts().runs === 0, { timeout: 60_000 });
    expect(bought()).toBe(2);
    expect((await readEngineState(db)).runs).toMatchObject([
      { state: 'paused', paused: { by: expect.any(String) }, steps: { done: 2, waiting: 4, of: 6 } },
    ]);
    expect((await run('workers')).out).toMatch(/lamp +paused \(.* ago\)/);
    expect((await run('status', 'campaign.yaml')).err).toMatch(/is paused by .* since/);
    await first.leave();
    const next = await head();
    await vi.waitUntil(() => next.facts().runs === 1, { timeout: 60_000, interval: 1 });
    await vi.waitUntil(() => next.facts().runs === 0, { timeout: 60_000 });
    expect(bought()).toBe(2);
    expect((await run('resume', 'campaign.yaml')).err).toMatch(/^resumed the run of lamp/);
    const passing = setInterval(pass, 100);
    onTestFinished(() => clearInterval(passing));
    const { code, err } = await applied;
    expect(code, err).toBe(0);
    expect(bought()).toBe(6);
    // Whoever operates the workers has no screen of the run.
    expect(news.map(({ event }) => event)).toEqual(['run-started', 'run-ended']);
    expect(news.at(-1)).toMatchObject({ campaign: 'lamp', exit: 0, credits: 12, outcomes: { done: 6 } });
    expect(err).toMatch(/the run is paused by .*mediabatch resume/);
    expect(err).toContain('the run continues');
    expect((await run('resume', 'campaign.yaml')).err).toContain('no run of lamp is open');
  });

  test('who paused a run first is kept; a run that was cancelled, or has ended, is not paused', async () => {
    const { db, id } = await submittedHere(submission({ account }));
    expect(await actOn(db, id, { act: 'pause', by: 'me on here' })).toBe(true);
    expect(await actOn(db, id, { act: 'pause', by: 'you on there' })).toBe(true);
    expect(await readRun(db, id)).toMatchObject({ paused: expect.any(Date), origin: { pausedBy: 'me on here' } });
    expect(await actOn(db, id, { act: 'resume', by: '' })).toBe(true);
    expect(await actOn(db, id, { act: 'resume', by: '' })).toBe(false);
    expect((await readRun(db, id))?.origin.pausedBy).toBeUndefined();
    await actOn(db, id, { act: 'pause', by: 'me on here' });
    await actOn(db, id, { act: 'cancel', by: 'me on here' });
    expect(await readRun(db, id)).toMatchObject({ paused: null, cancelled: expect.any(Date) });
    expect(await actOn(db, id, { act: 'pause', by: 'me on here' })).toBe(false);
  });
});
