import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { readEngineNote } from '../../src/disk/lock/engine-note.ts';
import { buyFirstFilm, manifestOf } from './rig/campaign.ts';
import { ClusterPlace } from './rig/place.ts';
import { until } from './rig/processes.ts';

const shape = { rows: 15, concurrency: 3, budget: 400 };
const cost = 15 * 3 + 15 * 3 + 5 * 10;

/** A run that is under way with nobody attached, and its id. */
async function underWay(place: ClusterPlace): Promise<string> {
  await buyFirstFilm(place, shape);
  place.judge.jobMs = 1500;
  const submitter = place.submit(['--store', place.store]);
  await until('a third was bought', () => place.judge.ledger.length >= 11);
  submitter.signal('SIGINT');
  await submitter.ended;
  const [run] = await place.server.ask<{ id: string }>("SELECT id FROM mediabatch.run WHERE state = 'open'");
  return run?.id ?? 'none';
}

test.concurrent('a run is given up while its workers work: they stop, and nothing is bought twice', async (context) => {
  const { onTestFinished, expect: it } = context;
  const place = await ClusterPlace.make(onTestFinished);
  const workers = [place.worker(), place.worker()];
  const id = await underWay(place);
  const unlocked = await place.run(['unlock', 'campaign.yaml', '--id', id, '--force']);
  it(unlocked.code, unlocked.err).toBe(0);
  const local = await place.applyLocally();
  it(place.judge.wrong, local.err).toEqual([]);
  it(place.judge.spent).toBeLessThanOrEqual(cost);
  it(workers.map((one) => one.isRunning())).toEqual([true, true]);
});

test.concurrent('it is given up while they are frozen, and they wake up later', async (context) => {
  const { onTestFinished, expect: it } = context;
  const place = await ClusterPlace.make(onTestFinished);
  const workers = [place.worker(), place.worker()];
  const id = await underWay(place);
  for (const one of workers) one.signal('SIGSTOP');
  const unlocked = await place.run(['unlock', 'campaign.yaml', '--id', id, '--force']);
  it(unlocked.code, unlocked.err).toBe(0);
  const local = place.applyLocally();
  await until('it goes on here', () => place.judge.count('create') > 14);
  for (const one of workers) one.signal('SIGCONT');
  it(place.judge.wrong, (await local).err).toEqual([]);
  it(place.judge.spent).toBeLessThanOrEqual(cost);
});

test.concurrent('where the engine cannot be reached nothing is given up without force', async (context) => {
  const { onTestFinished, expect: it } = context;
  const place = await ClusterPlace.make(onTestFinished);
  place.worker();
  const id = await underWay(place);
  const refused = await place.run(['unlock', 'campaign.yaml', '--id', id], {
    env: { MEDIABATCH_ENGINE: place.server.url.replace(/:\d+\//, ':1/') },
  });
  it(refused.code, refused.err).toBe(69);
  it((await place.applyLocally()).code).toBe(75);
  it(place.judge.wrong).toEqual([]);
});

test.concurrent('an older copy of the database is put back: nothing is bought before what came since is known', async (context) => {
  const { onTestFinished, expect: it } = context;
  const place = await ClusterPlace.make(onTestFinished);
  const lock = place.path('campaign.lock.jsonl');
  const workers = [place.worker(), place.worker()];
  await buyFirstFilm(place, shape);
  place.judge.jobMs = 2000;
  const first = place.submit(['--store', place.store]);
  await until('some was bought', () => place.judge.ledger.length >= 8);
  await place.server.stop();
  await place.server.copy('older');
  await place.server.start();
  await until('much more was bought', () => place.judge.ledger.length >= 24);
  for (const one of workers) one.signal('SIGKILL');
  const jobs = async () => (await place.server.dump()).matchAll(/"jobId":"[^"]+"/g);
  const isMirrored = async () => [...(await jobs())].every(([job]) => readFileSync(lock, 'utf8').includes(job));
  await until('all of it is in the lock', isMirrored);
  first.signal('SIGINT');
  await first.ended;
  await place.server.stop();
  await place.server.putBack('older');
  await place.server.start();
  const known = place.judge.ledger.length;
  place.worker();
  const asideText = "SELECT id FROM mediabatch.run WHERE error LIKE '%restored from an older copy%'";
  await until('the run is deferred', async () => (await place.server.ask(asideText)).length > 0);
  it(place.judge.ledger.length).toBe(known);
  const attached = await place.submit(['--store', place.store]).ended;
  it(place.judge.wrong, attached.err).toEqual([]);
  // Whose create was under way when its worker was killed waits for a person: with what it was sent was lost with the database.
  const unresolved = attached.err.match(/^\S+ {2}unresolved {2}/gm)?.length ?? 0;
  it(place.judge.spent, attached.err).toBeLessThanOrEqual(cost);
  it(place.judge.spent, attached.err).toBeGreaterThanOrEqual(cost - unresolved * 10);
  it(attached.err).toContain('this command sent the records of this lock');
});

test.concurrent('two keys of one account submit one campaign: the second is refused', async (context) => {
  const { onTestFinished, expect: it } = context;
  const place = await ClusterPlace.make(onTestFinished);
  place.judge.jobMs = 1500;
  place.write('campaign.yaml', manifestOf(shape));
  const clone = join(place.folder, 'clone');
  mkdirSync(clone);
  writeFileSync(join(clone, 'campaign.yaml'), manifestOf(shape));
  const env = { MEDIABATCH_API_KEY: 'booking_live_two' };
  for (const own of [{}, env]) place.worker([], { env: own });
  const first = place.submit(['--store', place.store]);
  await until('something was bought', () => place.judge.ledger.length > 0);
  const second = await place.submit(['--store', place.store], { cwd: clone, env }).ended;
  it(second.code, second.err).toBe(75);
  it(second.err).toContain('is already being bought on this engine');
  // Nothing of it stays in the way of the next one.
  it(readEngineNote(join(clone, 'campaign.lock.jsonl'))).toBeUndefined();
  it((await first.ended).code).toBe(0);
  it(place.judge.wrong).toEqual([]);
  it(place.judge.spent).toBe(cost);
});
