import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'vitest';
import { seeded } from '../rig/random.ts';
import { manifestOf } from './rig/campaign.ts';
import { ClusterPlace, loading } from './rig/place.ts';
import { until } from './rig/processes.ts';

const rows = Array.from({ length: 20 }, (_, index) => `r${index + 1}`);
const price = 3;
const manifest = (name: string) => `version: 1
name: ${name}
prices: { image: ${price} }
service: { concurrency: 4 }
tasks:
  hero: { kind: image, foreach: [${rows.join(', ')}], with: { prompt: "${name} {{row}}" } }
`;

test.concurrent('two campaigns at once never pass the limit of their account, whatever is killed', async (context) => {
  const { onTestFinished, expect: it } = context;
  const place = await ClusterPlace.make(onTestFinished);
  const most = 80;
  place.judge.jobMs = 800;
  place.write('campaign.yaml', manifest('lamp'));
  const other = join(place.folder, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'campaign.yaml'), manifest('vase'));
  // Only some were told a limit: it holds for all.
  const start = (index: number) => place.worker(index === 2 ? [] : ['--limit', `${most}/day,100/run`]);
  const workers = [0, 1, 2].map(start);
  const submitters = [place.home, other].map((cwd) => place.submit(['--store', place.store], { cwd }));
  await until('something was bought', () => place.judge.ledger.length > 0);
  const random = seeded(7);
  for (let strikes = 0; strikes < 5; strikes += 1) {
    await wait(500 + random() * 1500);
    const index = Math.floor(random() * workers.length);
    workers[index]?.signal('SIGKILL');
    workers[index] = start(index);
  }
  const ran = await Promise.all(submitters.map(({ ended }) => ended));
  const told = ran.map(({ err }) => err).join('\n');
  it(
    ran.map(({ code }) => code),
    told,
  ).toContain(4);
  it(place.judge.wrong).toEqual([]);
  it(place.judge.spent, told).toBeLessThanOrEqual(most);
  it(place.judge.spent, told).toBeGreaterThan(most - price);
  const looked = await place.run(['workers']);
  it(looked.out).toMatch(/^limit of account \w{8}: 80 a day by all workers, \d+ left$/m);
  const plan = await place.submit(['--store', place.store], { cwd: other });
  it((await plan.ended).code).toBe(4);
  it(place.judge.spent, told).toBeLessThanOrEqual(most);
});

test.concurrent.for([
  ['with a hold sent, and not confirmed', 'written'],
  ['between a hold and its create', 'confirmed'],
])('a head that is killed %s has spent nothing', async ([, when = ''], { onTestFinished, expect: it }) => {
  const place = await ClusterPlace.make(onTestFinished);
  const cost = 28;
  const words = ['--limit', `${cost}/day`];
  place.write('campaign.yaml', manifestOf({ rows: 3, concurrency: 4, budget: 1000 }));
  const log = `${place.folder}/halted`;
  const env = { HALT_PATTERN: 'INTO mediabatch\\.spent', HALT_WHEN: when, HALT_LOG: log, ...loading('halt-at.mjs') };
  const head = place.worker(words, { env });
  const submitter = place.submit(['--store', place.store]);
  await until(`it halted; ${head.err()}`, () => existsSync(log) || !submitter.isRunning());
  it((await head.ended).signal, head.err()).toBe('SIGKILL');
  place.worker(words);
  const ran = await submitter.ended;
  it(ran.code, ran.err).toBe(0);
  it(place.judge.wrong).toEqual([]);
  it(place.judge.spent, ran.err).toBe(cost);
});
