import { expect, onTestFinished, test, vi } from 'vitest';
import { accountOf } from '../../../src/cluster/account-id.ts';
import { readEngineState } from '../../../src/cluster/engine-state.ts';
import { takeSeat } from '../../../src/cluster/head/account.ts';
import { Head } from '../../../src/cluster/head/head.ts';
import { cancelRun, openRunsOf, pauseRun, readRun, resumeRun, submitRun } from '../../../src/cluster/runs/runs.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import type { WorkerNews } from '../../../src/contract/engine-state.ts';
import { makeTrial } from '../../rig/trial.ts';
import { engineHere, submission } from './engine-here.ts';

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
  const watched = { creates: 0, lags: [] as number[] };
  const news: WorkerNews[] = [];
  const watch = {
    created() {
      watched.creates += 1;
    },
    seen(lagMs: number) {
      watched.lags.push(lagMs);
    },
  };
  /** The next head of the account. */
  const head = async () => {
    // Whoever was the head before is not waited for.
    await db.query(`UPDATE mediabatch_queue.job SET state = 'retry' WHERE state = 'active'`);
    const seat = await takeSeat({ db, boss, account, worker: 'one' });
    if (seat === undefined) throw new Error('the seat is not free');
    const end = new AbortController();
    const one = new Head({
      ...{ db, boss, account, seat, signal: end.signal, own: undefined, replays: 'yes', accountOf: () => undefined },
      access: { baseUrl, token },
      seal: makeSeal(token),
      clock: systemClock,
      watch,
      redact: (text) => text,
      onSize: () => {},
      tell: (one) => news.push(one),
    });
    const running = one.run();
    running.catch(() => {});
    const beats = setInterval(() => void seat.lease.confirm(() => seat.beat()).catch(() => {}), 1000);
    const leave = async () => {
      end.abort();
      await running.catch(() => {});
      clearInterval(beats);
      seat.lease.lose();
    };
    onTestFinished(leave);
    return { facts: () => one.facts(), leave };
  };
  return { db, account, run, head, pass, news, watched, bought: () => trial.sandbox.ledger().length };
}

test('I51 a paused run sends nothing new, under the next head either, and goes on when it is resumed', async () => {
  const { db, account, run, head, pass, news, watched, bought } = await runHere();
  const applied = run('apply', 'campaign.yaml', '--yes');
  await vi.waitUntil(async () => (await openRunsOf(db, account)).length === 1, { timeout: 60_000 });
  const first = await head();
  await vi.waitUntil(() => first.facts().inFlight === 2, { timeout: 60_000 });
  const paused = await run('pause', 'campaign.yaml');
  expect(paused.err).toMatch(
    /^paused the run of lamp .*\nnothing new is sent for this run;.*\nto go on: mediabatch resume/,
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
  expect(watched).toEqual({
    creates: 6,
    lags: Array(6).fill(expect.any(Number)),
  });
  // Whoever operates the workers has no screen of the run.
  expect(news.map(({ is }) => is)).toEqual(['run started', 'run ended']);
  expect(news.at(-1)).toMatchObject({ campaign: 'lamp', exit: 0, credits: 12, outcomes: { done: 6 } });
  expect(err).toMatch(/the run is paused by .*mediabatch resume/);
  expect(err).toContain('the run goes on');
  expect((await run('resume', 'campaign.yaml')).err).toContain('no run of lamp is open');
});

test('who paused a run first is kept; a run that was cancelled, or has ended, is not paused', async () => {
  const { db, boss } = await engineHere();
  const { id } = await submitRun(db, boss, submission({ account: 'a'.repeat(32) }));
  expect(await pauseRun(db, id, 'me on here')).toBe(true);
  expect(await pauseRun(db, id, 'you on there')).toBe(true);
  expect(await readRun(db, id)).toMatchObject({ paused: expect.any(Date), origin: { pausedBy: 'me on here' } });
  expect(await resumeRun(db, id)).toBe(true);
  expect(await resumeRun(db, id)).toBe(false);
  expect((await readRun(db, id))?.origin.pausedBy).toBeUndefined();
  await pauseRun(db, id, 'me on here');
  await cancelRun(db, id, 'me on here');
  expect(await readRun(db, id)).toMatchObject({ paused: null, cancelled: expect.any(Date) });
  expect(await pauseRun(db, id, 'me on here')).toBe(false);
});
