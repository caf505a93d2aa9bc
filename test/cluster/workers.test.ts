import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, test } from 'vitest';
import { openStore } from '../../src/cluster/store/store.ts';
import { manifestOf } from './rig/campaign.ts';
import type { Asked } from './rig/judge.ts';
import { applied, ClusterPlace, openRuns } from './rig/place.ts';
import { type Running, until } from './rig/processes.ts';

const shape = { rows: 3, concurrency: 4, budget: 100 };
const steps = 7;

type Stranger = (place: ClusterPlace) => Promise<Running> | Running;

const strangers: [string, Stranger, RegExp][] = [
  ['another key', (place) => place.worker([], { env: { MEDIABATCH_API_KEY: 'booking_live_two' } }), /key|account/i],
  [
    'another address of the service',
    (place) => place.worker([], { env: { MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1' } }),
    /address|MEDIABATCH_BASE_URL|account/i,
  ],
  [
    'another store',
    async (place) => {
      const other = `${place.folder}/other-store`;
      mkdirSync(other);
      await openStore(other, { makes: true });
      return place.start(['worker', '--store', other], { cwd: place.folder });
    },
    /store/i,
  ],
];

describe('a worker that is not for a run takes nothing, and says why', () => {
  test.concurrent.for(strangers)('%s', async ([, startStranger, says], { onTestFinished, expect: it }) => {
    const place = await ClusterPlace.make(onTestFinished);
    place.write('campaign.yaml', manifestOf(shape));
    const submitter = place.submit(['--store', place.store]);
    await until('it is submitted', async () => (await openRuns(place)) === 1);
    const stranger = await startStranger(place);
    await until(`it says why: ${stranger.err()}`, () => says.test(stranger.err()), 20);
    await wait(3000);
    it(place.judge.ledger, stranger.err()).toEqual([]);
    place.worker();
    const ran = await applied(submitter);
    it(ran.code, ran.err).toBe(0);
    it(place.judge.ledger).toHaveLength(steps);
    stranger.signal('SIGTERM');
    await stranger.ended;
  });

  test.concurrent.for([0, 2])('protocol %i of the run', async (number, { onTestFinished, expect: it }) => {
    const place = await ClusterPlace.make(onTestFinished);
    place.write('campaign.yaml', manifestOf(shape));
    place.submit(['--store', place.store]);
    await until('it is submitted', async () => (await openRuns(place)) === 1);
    await place.server.ask('UPDATE mediabatch.run SET protocol = $1', [number]);
    const worker = place.worker();
    await until(`it says why: ${worker.err()}`, () => /protocol|version/i.test(worker.err()), 20);
    await wait(3000);
    it(place.judge.ledger).toEqual([]);
    await place.server.ask('UPDATE mediabatch.run SET protocol = 1');
    await until('it goes on', () => place.judge.ledger.length === steps);
  });
});

test.concurrent('two campaigns of an account: one poller, one cap of its own each, both budgets', async (context) => {
  const { expect: it } = context;
  const place = await ClusterPlace.make(context.onTestFinished);
  place.judge.jobMs = 1000;
  const folders = ['one', 'two'].map((name) => {
    const folder = `${place.folder}/${name}`;
    mkdirSync(folder);
    // Of the films of each, half.
    const text = manifestOf({ rows: 12, concurrency: 6, budget: 100 });
    writeFileSync(
      `${folder}/campaign.yaml`,
      text
        .replace('name: chaos', `name: ${name}`)
        .replaceAll('hero {{', `hero ${name} {{`)
        .replaceAll('pair {{', `pair ${name} {{`)
        .replaceAll('film {{', `film ${name} {{`),
    );
    return folder;
  });
  const workers = [place.worker(), place.worker(), place.worker()];
  const submitters = folders.map((cwd) => place.submit(['--store', place.store], { cwd }));
  const ends = await Promise.all(submitters.map(applied));
  const told = [...ends.map(({ err }) => err), ...workers.map((one) => one.err())].join('\n');
  it(
    ends.map(({ code }) => code),
    told,
  ).toEqual([4, 4]);
  it(place.judge.wrong, told).toEqual([]);
  for (const name of ['one', 'two']) {
    const own = place.judge.ledger.filter(({ subject }) => subject.includes(` ${name} `));
    const spent = own.reduce((sum, { credits }) => sum + credits, 0);
    it(spent, `${name}\n${told}`).toBeLessThanOrEqual(100);
    it(spent, `${name}\n${JSON.stringify(place.judge.ledger.map((x) => x.subject))}${told}`).toBeGreaterThan(85);
  }
  const askers = (what: Asked['what']) => place.judge.asked.filter((one) => one.what === what).map((one) => one.from);
  const [head, ...others] = new Set([...askers('create'), ...askers('status')]);
  it(others, head).toEqual([]);
  it(askers('list').filter((from) => from !== head)).toEqual([]);
});
