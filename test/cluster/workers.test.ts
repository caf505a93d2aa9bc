import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'vitest';
import { manifestOf } from './rig/campaign.ts';
import type { Asked } from './rig/judge.ts';
import { ClusterPlace } from './rig/place.ts';

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
  const ends = await Promise.all(submitters.map(({ ended }) => ended));
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
