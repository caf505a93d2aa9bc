import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { has } from '../rig/program.ts';
import { endOf, manifestOf, missingFiles } from './rig/campaign.ts';
import { ClusterPlace } from './rig/place.ts';
import { until } from './rig/processes.ts';

const awaySeconds = Number(process.env.MEDIABATCH_CLUSTER_OUTAGE ?? 60);
const shape = { rows: 30, concurrency: 4, budget: 280 };
const cost = 30 * 3 + 30 * 3 + 10 * 10;

const canMount = has.linux && has.root && has.mounts;
if (!canMount) process.stderr.write('test/cluster: a full disk of the server needs Linux, root and mounts; skipped\n');

describe('the server', () => {
  test.concurrent('is gone for long: nothing is spent meanwhile, and the run goes on by itself', async (context) => {
    const { expect: it } = context;
    const place = await ClusterPlace.make(context.onTestFinished);
    place.write('campaign.yaml', manifestOf(shape));
    place.judge.jobMs = 300;
    const watch = place.watch(shape.budget, shape.concurrency);
    const workers = [place.worker(), place.worker(), place.worker()];
    const submitter = place.submit(['--store', place.store, '--events', 'events.jsonl']);
    await until('something was bought', () => place.judge.ledger.length > 10);
    await place.server.kill();
    const known = place.judge.ledger.length;
    await wait(3000);
    const after = place.judge.ledger.length;
    await wait(awaySeconds * 1000);
    const told = () => [submitter, ...workers].map((one) => `${one.name}\n${one.err()}`).join('\n');
    it(after - known, told()).toBeLessThanOrEqual(shape.concurrency);
    it(place.judge.ledger.length, told()).toBe(after);
    it([submitter, ...workers].map((one) => one.isRunning())).toEqual([true, true, true, true]);
    await place.server.start();
    const ran = await submitter.ended;
    it(ran.code, told()).toBe(0);
    it(await watch.end(), told()).toEqual([]);
    it(endOf(place, ran).spent).toBe(cost);
    it(missingFiles(place)).toEqual([]);
    for (const one of [submitter, ...workers]) it(one.err(), one.name).toMatch(/engine|server|database/i);
  });

  test
    .runIf(canMount)
    .concurrent('has no room: spending stops, is said, and goes on when there is', async (context) => {
      const { expect: it } = context;
      const place = await ClusterPlace.make(context.onTestFinished, { diskBytes: 160 << 20 });
      place.write('campaign.yaml', manifestOf(shape));
      place.judge.jobMs = 300;
      const watch = place.watch(shape.budget, shape.concurrency);
      const workers = [place.worker(), place.worker()];
      const submitter = place.submit(['--store', place.store, '--events', 'events.jsonl']);
      await until('something was bought', () => place.judge.ledger.length > 4);
      const filler = place.server.inside('filler');
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(64 << 10), { flag: 'a' });
      } catch {
        // That was all of it.
      }
      const told = () => [submitter, ...workers].map((one) => `${one.name}\n${one.err()}`).join('\n');
      // Pages that are there already take a while to be full.
      await until('nothing is bought any more', async () => {
        const before = place.judge.ledger.length;
        await wait(4000);
        return place.judge.ledger.length === before;
      });
      it(place.judge.spent, told()).toBeLessThan(cost);
      it(told()).toMatch(/space|full/i);
      rmSync(filler);
      // Where it was its log of transactions that had no room, Postgres has ended.
      if (
        !(await place.server.ask('SELECT 1').then(
          () => true,
          () => false,
        ))
      )
        await place.server.start();
      const ran = await submitter.ended;
      it(ran.code, told()).toBe(0);
      it(await watch.end(), told()).toEqual([]);
      it(endOf(place, ran).spent).toBe(cost);
    });
});

test('the books of these runs cost what everything costs', () => {
  expect(cost).toBe(shape.budget);
});
