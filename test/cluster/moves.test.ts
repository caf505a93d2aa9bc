import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import type { RunStory } from '../../src/report/history/run-story.ts';
import { serviceHere } from '../rig/service-here.ts';
import { differences, endOf, manifestOf, missingFiles, runLocally } from './rig/campaign.ts';
import { ClusterPlace, openRuns } from './rig/place.ts';
import { until } from './rig/processes.ts';

const shape = { rows: 15, concurrency: 3, budget: 200 };
const cost = 15 * 3 + 15 * 3 + 5 * 10;
/** Of what there is to buy; then somebody changes their mind about where. */
const third = 11;

test.concurrent('half here, half on the engine, and back: nothing is bought twice', async (context) => {
  const { onTestFinished, expect: it } = context;
  const calm = await ClusterPlace.make(onTestFinished);
  calm.write('campaign.yaml', manifestOf(shape));
  const whole = await runLocally(calm);
  const place = await ClusterPlace.make(onTestFinished);
  place.judge.cap = shape.concurrency;
  place.judge.jobMs = 3000;
  place.write('campaign.yaml', manifestOf(shape));

  // Killed here: what it has bought is found by the engine.
  const here = place.start(['apply', 'campaign.yaml', '--yes'], { env: { MEDIABATCH_ENGINE: '' } });
  await until('a third was bought here', () => place.judge.ledger.length >= third);
  here.signal('SIGKILL');
  await here.ended;

  const worker = place.worker();
  const there = place.submit(['--store', place.store]);
  await until('another third was bought there', () => place.judge.ledger.length >= 2 * third);
  // As long as the engine has it, nobody carries it out here.
  there.signal('SIGINT');
  it((await there.ended).code, there.err()).toBe(130);
  it(there.err()).toMatch(/continues/);
  const refused = await place.applyLocally();
  it(refused.code, refused.err).toBe(75);
  it(refused.err).toContain('--engine');
  const cancelled = await place.run(['cancel', 'campaign.yaml']);
  it(cancelled.code, cancelled.err).toBe(0);
  const attached = await place.submit(['--store', place.store]).ended;
  const bought = place.judge.ledger.length;
  it(attached.code, attached.err).toBe(130);
  worker.signal('SIGTERM');
  it((await worker.ended).code, worker.err()).toBe(0);

  const back = await place.applyLocally(place.home, ['--events', 'events.jsonl']);
  it(back.code, back.err).toBe(0);
  it(place.judge.wrong).toEqual([]);
  it(place.judge.spent, `${bought} bought until it was cancelled`).toBe(cost);
  it(differences({ ...endOf(place, back), ends: whole.ends }, whole)).toEqual([]);
  it(missingFiles(place)).toEqual([]);
  // Watched twice, and spent once.
  const { runs } = JSON.parse((await place.run(['runs', 'campaign.yaml', '--json'])).out) as { runs: RunStory[] };
  it(runs.map(({ engineRun, how }) => [engineRun === undefined ? 'here' : 'there', how])).toEqual([
    ['here', 'ended'],
    ['there', 'ended'],
    ['here', undefined],
  ]);
});

test.concurrent('a saved plan with `retry:` goes on there after its first job failed here', async (context) => {
  const { onTestFinished, expect: it } = context;
  const place = await ClusterPlace.make(onTestFinished);
  const faults = [{ on: 'create', nth: 2, do: { type: 'hang' } } as const];
  const service = await serviceHere({ failRate: 1, faults });
  onTestFinished(() => service.close());
  const { env } = service;
  const hero = 'hero: { kind: image, retry: { attempts: 2 }, with: { prompt: x, resolution: 1k } }';
  place.write('campaign.yaml', `version: 1\nname: again\nprices: { image: 2 }\ntasks:\n  ${hero}\n`);
  const saved = await place.run(['plan', 'campaign.yaml', '--out', 'again.plan.json'], { env });
  it(saved.code, saved.err).toBe(0);
  const here = place.start(['apply', 'again.plan.json', '--yes', '-v'], { env: { ...env, MEDIABATCH_ENGINE: '' } });
  await until('its first job failed', () => here.err().includes('another job is bought'));
  here.signal('SIGKILL');
  await here.ended;
  place.worker([], { env });
  const there = await place.run(['apply', 'again.plan.json', '--yes', '--store', place.store], { env });
  it(there.code, there.err).toBe(3);
  it(service.ledger()).toHaveLength(2);
});

test.concurrent('the end of a run that nobody saw is found by the next clone', async (context) => {
  const { onTestFinished, expect: it } = context;
  const place = await ClusterPlace.make(onTestFinished);
  place.write('campaign.yaml', manifestOf(shape));
  const there = place.submit(['--store', place.store]);
  await until('it is submitted', async () => (await openRuns(place)) === 1);
  there.signal('SIGINT');
  await there.ended;
  const worker = place.worker();
  await until('it has ended', async () => (await openRuns(place)) === 0);
  worker.signal('SIGTERM');
  await worker.ended;
  // As a runner of CI has it: nothing but what is in git.
  const clone = join(place.folder, 'clone');
  mkdirSync(clone);
  writeFileSync(join(clone, 'campaign.yaml'), manifestOf(shape));
  const first = await place.submit(['--store', place.store], { cwd: clone }).ended;
  it(first.code, first.err).toBe(0);
  it(first.err).toContain('the run has ended since');
  const second = await place.submit(['--store', place.store], { cwd: clone }).ended;
  it(second.err).toMatch(/nothing to do/i);
  it(place.judge.wrong).toEqual([]);
  it(place.judge.spent).toBe(cost);
});
