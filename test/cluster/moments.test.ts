import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, type TestContext, test } from 'vitest';
import { endOf, manifestOf, missingFiles } from './rig/campaign.ts';
import { ClusterPlace, loading, openRuns } from './rig/place.ts';
import { type Running, until } from './rig/processes.ts';

const shape = { rows: 3, concurrency: 4, budget: 28 };
const cost = 28;

interface Halted {
  place: ClusterPlace;
  head: Running;
  submitter: Running;
}

interface Moment {
  /** What is written to a socket then. */
  pattern: string;
  when: 'before' | 'written' | 'confirmed';
}

/** A head that is gone at a moment; nobody else is there to take over yet. */
async function haltAt(onTestFinished: TestContext['onTestFinished'], { pattern, when }: Moment): Promise<Halted> {
  const place = await ClusterPlace.make(onTestFinished);
  place.write('campaign.yaml', manifestOf(shape));
  place.judge.cap = shape.concurrency;
  // Longer than creates take that leave one after the other, until charges have met their reservations.
  place.judge.jobMs = 2000;
  const log = `${place.folder}/halted`;
  const env = { HALT_PATTERN: pattern, HALT_WHEN: when, HALT_LOG: log, ...loading('halt-at.mjs') };
  const head = place.worker([], { env });
  const submitter = place.submit(['--store', place.store, '--events', 'events.jsonl']);
  await until(`it halted; ${head.err()} ${submitter.err()}`, () => existsSync(log) || !submitter.isRunning());
  return { place, head, submitter };
}

const moments: [string, Moment][] = [
  ['between a job id and its line', { pattern: '"state":"running"', when: 'before' }],
  ['with the line of a job id sent, and not confirmed', { pattern: '"state":"running"', when: 'written' }],
  ['with a file saved, and its line not written', { pattern: '"state":"done"', when: 'before' }],
  ['with a file saved and told, and its line sent', { pattern: '"state":"done"', when: 'confirmed' }],
  ['before the end of a step is on record', { pattern: 'INTO mediabatch\\.ended', when: 'before' }],
  ['between the last step and the end of the run', { pattern: "SET state = 'ended'", when: 'before' }],
  ['with the end of the run sent', { pattern: "SET state = 'ended'", when: 'written' }],
  ['with the end of the run on record', { pattern: "SET state = 'ended'", when: 'confirmed' }],
];

describe('a head that is killed', () => {
  test.concurrent.for(moments)('%s: another one goes on, and nothing is bought twice', async (given, context) => {
    const [, moment] = given;
    const { expect: it } = context;
    const { place, head, submitter } = await haltAt(context.onTestFinished, moment);
    it((await head.ended).signal, head.err() + submitter.err()).toBe('SIGKILL');
    const next = place.worker();
    const ran = await submitter.ended;
    await until('the next worker has begun', () => next.err() !== '');
    const told = `${next.err()}\n${ran.err}`;
    it(ran.code, told).toBe(0);
    it(place.judge.wrong, told).toEqual([]);
    it(endOf(place, ran).spent, told).toBe(cost);
    it(Object.values(endOf(place, ran).ends), told).toEqual(Array(7).fill('done'));
    it(missingFiles(place)).toEqual([]);
    next.signal('SIGTERM');
    it((await next.ended).code, told).toBe(0);
  });
});

describe('submits', () => {
  test.concurrent('after a head died that had ended its last run: the next one is not forgotten', async (context) => {
    const { expect: it } = context;
    const moment = { pattern: "SET state = 'ended'", when: 'confirmed' } as const;
    const { place, head, submitter } = await haltAt(context.onTestFinished, moment);
    await head.ended;
    it((await submitter.ended).code, submitter.err()).toBe(0);
    place.write('campaign.yaml', manifestOf({ ...shape, rows: 4, budget: 100 }));
    const again = place.submit(['--store', place.store]);
    await wait(1000);
    place.worker();
    it((await again.ended).code, again.err()).toBe(0);
    it(place.judge.wrong).toEqual([]);
    it(place.judge.ledger).toHaveLength(7 + 3);
  });

  test.concurrent('two at once: one wins, the other one attaches or says who has it', async (context) => {
    const { expect: it } = context;
    const place = await ClusterPlace.make(context.onTestFinished);
    place.judge.cap = shape.concurrency;
    place.judge.jobMs = 1500;
    place.write('campaign.yaml', manifestOf(shape));
    // Two people with a clone each: the guard of one folder knows nothing of the other.
    const others = `${place.folder}/other`;
    place.processes.start('cp', ['cp', '-r', place.home, others], { cwd: place.folder, env: process.env });
    await until('there is a second clone', () => existsSync(`${others}/campaign.yaml`));
    const worker = place.worker();
    const both = [place.submit(['--store', place.store]), place.submit(['--store', place.store], { cwd: others })];
    const ends = await Promise.all(both.map(({ ended }) => ended));
    const told = both.map((one) => one.err()).join('\n----\n') + worker.err();
    it(
      ends.map(({ code }) => code),
      told,
    ).toEqual([0, 0]);
    it(place.judge.wrong, told).toEqual([]);
    it(place.judge.spent, told).toBe(cost);
    it(await place.server.ask('SELECT campaign, state FROM mediabatch.run'), told).toEqual([
      { campaign: 'chaos', state: 'ended' },
    ]);
  });

  test.concurrent('one after the other, each while the last head leaves: none is forgotten', async (context) => {
    const { expect: it } = context;
    const place = await ClusterPlace.make(context.onTestFinished);
    place.worker();
    place.worker();
    for (let round = 1; round <= 6; round += 1) {
      const rows = `[${Array.from({ length: round }, (_, index) => `r${index}`).join(', ')}]`;
      place.write(
        'campaign.yaml',
        `version: 1\nname: rounds\nprices: { image: 3 }\ntasks:\n  hero: { kind: image, foreach: ${rows}, with: { prompt: "hero {{row}}" } }\n`,
      );
      const ran = await place.submit(['--store', place.store]).ended;
      it(ran.code, ran.err).toBe(0);
    }
    it(place.judge.ledger).toHaveLength(6);
    it(place.judge.wrong).toEqual([]);
  });
});

test.concurrent('two workers after a restart of the server: one head', async ({ onTestFinished, expect: it }) => {
  const place = await ClusterPlace.make(onTestFinished);
  place.judge.cap = shape.concurrency;
  place.judge.jobMs = 12_000;
  place.write('campaign.yaml', manifestOf(shape));
  const workers = [place.worker(), place.worker()];
  const submitter = place.submit(['--store', place.store]);
  await until('something was bought', () => place.judge.spent > 0);
  await place.server.kill();
  // Longer than it takes to call a head dead.
  await wait(16_000);
  await place.server.start();
  const ran = await submitter.ended;
  const told = workers.map((one) => one.err()).join('\n') + ran.err;
  // 6: a video create request was lost with the server. The service cannot replay it, so a user decides.
  it([0, 6], told).toContain(ran.code);
  it(place.judge.wrong, told).toEqual([]);
  if (ran.code === 0) it(place.judge.spent, told).toBe(cost);
  it(place.judge.spent, told).toBeLessThanOrEqual(cost);
  it(told.match(/of the account \(epoch/g)?.length, told).toBeLessThanOrEqual(2);
});

test('what the moments are named by is written by a run that nobody disturbs', async ({ onTestFinished }) => {
  const place = await ClusterPlace.make(onTestFinished);
  place.write('campaign.yaml', manifestOf(shape));
  const submitter = place.submit(['--store', place.store, '--events', 'events.jsonl']);
  await until('it is submitted', async () => (await openRuns(place)) === 1);
  const head = place.worker(['--exit-when-idle']);
  const ran = await submitter.ended;
  expect(ran.code, ran.err + head.err()).toBe(0);
  expect(endOf(place, ran).spent).toBe(cost);
  expect((await head.ended).code, head.err()).toBe(0);
});
