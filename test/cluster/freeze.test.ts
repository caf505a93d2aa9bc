import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, type TestContext, test } from 'vitest';
import { buyFirstFilm } from './rig/campaign.ts';
import { epochOf } from './rig/chaos.ts';
import { ClusterPlace, loading } from './rig/place.ts';
import { type Running, until } from './rig/processes.ts';

const manifests = {
  'with replay': 'tasks:\n  hero: { kind: image, foreach: [a], with: { prompt: "hero {{row}}" } }\n',
  'with a list': 'tasks:\n  hero: { kind: video, foreach: [a], with: { prompt: "hero {{row}}", duration: 2 } }\n',
} as const;
/** At most so many; that is held against a run that does not freeze. */
const calls = 11;
const subjects = { 'with replay': 'image hero a', 'with a list': 'video hero a' } as const;
type Sort = keyof typeof manifests;

interface Frozen {
  place: ClusterPlace;
  head: Running;
  submitter: Running;
  /** The calls of the system that it passed, in words; at the last one it froze. */
  passed(): string[];
}

/** A head that freezes at a call of the system, from 1, between the intent and the record of the only create. */
async function freezeAt(onTestFinished: TestContext['onTestFinished'], sort: Sort, at: number): Promise<Frozen> {
  const place = await ClusterPlace.make(onTestFinished);
  // A list is trusted when a known job shows how requests come back in it.
  if (sort === 'with a list') await buyFirstFilm(place, { rows: 1, budget: 100, concurrency: 1 });
  place.write('campaign.yaml', `version: 1\nname: chaos\nprices: { image: 3, video: 10 }\n${manifests[sort]}`);
  place.judge.cap = 1;
  const log = `${place.folder}/passed`;
  const env = { FREEZE_ADDRESS: 'hero@a', FREEZE_AT: String(at), FREEZE_LOG: log, ...loading('freeze-at.mjs') };
  const head = place.worker([], { env });
  const submitter = place.submit(['--store', place.store]);
  return {
    place,
    head,
    submitter,
    passed: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
  };
}

/** All rows that heads of earlier epochs have written. */
async function rowsBefore({ server }: ClusterPlace, epoch: number): Promise<string[]> {
  const tables = ['line', 'event', 'ended', 'body'];
  const texts = tables.map(
    (table) => `SELECT '${table} ' || t::text AS row FROM mediabatch.${table} t WHERE epoch > 0 AND epoch < ${epoch}`,
  );
  const rows = await server.ask<{ row: string }>(`${texts.join(' UNION ALL ')} ORDER BY 1`);
  return rows.map(({ row }) => row);
}

describe.each(Object.keys(manifests) as Sort[])('a head that freezes over a create, of a kind %s', (sort) => {
  test.concurrent.for(Array.from({ length: calls }, (_, index) => index + 1))(
    'at call %i: another takes over, and nothing is bought twice when it wakes up',
    async (at, { onTestFinished, expect: it }) => {
      const { place, head, submitter, passed } = await freezeAt(onTestFinished, sort, at);
      await until(`it froze; ${head.err()} ${submitter.err()}`, () => passed().length >= at || !submitter.isRunning());
      if (!submitter.isRunning()) {
        // There are fewer calls than tests.
        it((await submitter.ended).code, submitter.err()).toBe(0);
        it(passed().length).toBeGreaterThan(6);
        return;
      }
      const before = await epochOf(place);
      const next = place.worker();
      await until('another took over', async () => (await epochOf(place)) > before);
      const epoch = await epochOf(place);
      const rows = await rowsBefore(place, epoch);
      // In turn: while the new head waits before it looks for the create, and after everything is over.
      if (at % 2 === 0) await wait(1000);
      else await submitter.ended;
      head.signal('SIGCONT');
      const told = `frozen when ${passed().at(-1)}\n${head.err()}\n${next.err()}\n${submitter.err()}`;
      const ran = await submitter.ended;
      // What it had in its hands when it froze gets its chance.
      await wait(2000);
      it(ran.code, told).toBe(0);
      it(place.judge.wrong, told).toEqual([]);
      it(place.judge.idsOf(subjects[sort]), told).toHaveLength(1);
      const gone = (row: string) => row.startsWith('body');
      it(
        (await rowsBefore(place, epoch)).filter((row) => !gone(row)),
        told,
      ).toEqual(rows.filter((row) => !gone(row)));
      for (const worker of [head, next]) worker.signal('SIGTERM');
      it((await head.ended).code, told).toBe(0);
      it((await next.ended).code, told).toBe(0);
    },
  );
});

test('the calls between intent and answer are those that were meant', async ({ onTestFinished }) => {
  const { submitter, passed } = await freezeAt(onTestFinished, 'with a list', 0);
  expect((await submitter.ended).code, submitter.err()).toBe(0);
  expect(passed()).toEqual([
    'the intent is about to be written',
    'the intent is written',
    'the intent is confirmed',
    'a connection is about to be made',
    'a connection is made',
    'the create is about to be written',
    'the create is written',
    'the answer has come',
    'the record is about to be written',
    'the record is written',
    'the record is confirmed',
  ]);
});
