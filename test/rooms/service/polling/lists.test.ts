import { describe, expect, test } from 'vitest';
import { requireKind } from '../../../../src/kinds/index.ts';
import { Durations } from '../../../../src/service/polling/durations.ts';
import { ListPlaces } from '../../../../src/service/polling/list-places.ts';
import { newlyWatched, type WatchedJob } from '../../../../src/service/polling/watched-job.ts';
import { independent } from '../../../bench/steps.ts';
import { logNormal, seeded } from '../../../rig/random.ts';
import { type SimulationOptions, simulate } from '../../../rig/simulate.ts';

function simulateMany(
  count: number,
  draw: { kind: 'video' | 'voiceover'; medianMs: number; sigma: number },
  options: SimulationOptions,
) {
  const durationMs = logNormal(draw.medianMs, draw.sigma, seeded(options.seed ?? 1));
  return simulate(draw.kind, independent(count, durationMs), options);
}

describe('many jobs, few reads', () => {
  const voice = { kind: 'voiceover', medianMs: 20_000, sigma: 0.25 } as const;
  /** With a look at each job alone this takes nine times as long. */
  const busy = { concurrency: 1000, createsPerSecond: 25, perSecond: 2 };

  test.each([
    ['as they are made', {}],
    ['created in any order', { answersMs: 2000 }],
    ['in a list that says how long it is', { list: { tellsTotal: true } }],
  ])('2,000 jobs, 25 made and 2 reads a second: %s', async (_, changes) => {
    const result = await simulateMany(2000, voice, { ...busy, ...changes });
    expect(result.meanLagMs).toBeLessThan(2000);
    expect(result.perJob).toBeLessThan(0.11);
    expect(result.times).toBeLessThan(1.02);
  });

  test.each([
    ['among as many of other people', { strangers: 1 }, 4000, 1.04],
    ['among five times as many of other people', { strangers: 5 }, 20_000, 1.2],
    ['the same where the list says how long it is', { strangers: 5, tellsTotal: true }, 15_000, 1.15],
    ['on pages that are shorter than asked for', { pageMost: 20 }, 10_000, 1.15],
    ['the same where they say to be as long as asked for', { pageMost: 20, repeatsLimit: true }, 10_000, 1.15],
    ['one in twenty never shown', { hiddenEvery: 20 }, 5000, 1.25],
  ])('1,000 jobs of which the list tells: %s', async (_, list, lagMs, times) => {
    const result = await simulateMany(1000, voice, { ...busy, list, seed: 3 });
    expect(result.meanLagMs).toBeLessThan(lagMs);
    expect(result.perJob).toBeLessThan(0.2);
    expect(result.times).toBeLessThan(times);
  });

  test('everything at once: a burst, other people, hidden ones, answers in any order', async () => {
    const list = { strangers: 1, hiddenEvery: 20 };
    const result = await simulateMany(1000, voice, { concurrency: 1000, perSecond: 2, answersMs: 3000, list, seed: 3 });
    expect(result.perJob).toBeLessThan(0.2);
    expect(result.times).toBeLessThan(1.7);
  });
});

describe('where jobs stand', () => {
  const kind = requireKind('video');
  const known = new Durations().of({ kind: 'video', model: undefined, typicalMs: 1000 });

  /** `count` jobs v1, v2, … made one after the other at 1,000 ms, and a list of 10 on a page. */
  function placesOf(count: number) {
    const jobs = new Map<string, WatchedJob>();
    const watched = new Set<WatchedJob>();
    const places = new ListPlaces(watched, { isPaged: true, size: 10 });
    for (let number = 1; number <= count; number += 1) {
      const about = {
        kind,
        jobId: `v${number}`,
        known,
        urgency: () => 1,
        number,
        fresh: true,
        startedAt: 1000,
        luck: 0,
      };
      const job = newlyWatched(about);
      jobs.set(job.jobId, job);
      watched.add(job);
      places.add(job);
    }
    const pageOf = (id: string) => places.pages()(jobs.get(id) as WatchedJob);
    let now = 2000;
    /** Reads a page of this list, newest first; what is missing since. */
    const read = (list: readonly string[], page: number, total?: number) => {
      now += 1000;
      const shown = list.slice((page - 1) * 10, page * 10);
      const records = new Map(shown.map((id, index) => [id, { index }]));
      const isLast = list.length <= page * 10;
      const facts = { records, count: shown.length, isLast, total };
      return places.note(places.ask(page, now), facts).map(({ jobId }) => jobId);
    };
    return { pageOf, read };
  }
  const newestFirst = (count: number) => Array.from({ length: count }, (_, index) => `v${count - index}`);

  test('one after the other, as they were made', () => {
    const { pageOf } = placesOf(30);
    expect(['v30', 'v21', 'v20', 'v1'].map(pageOf)).toEqual([1, 1, 2, 3]);
  });

  test('records of others before them push them on, as soon as they are seen', () => {
    const { pageOf, read } = placesOf(30);
    read(newestFirst(30), 1);
    expect(
      read(
        [
          ...newestFirst(30)
            .map((id) => `x${id}`)
            .slice(0, 8),
          ...newestFirst(30),
        ],
        1,
      ),
    ).toEqual([]);
    expect(['v29', 'v22', 'v21'].map(pageOf)).toEqual([1, 2, 2]);
  });

  test('one that is not where it should be is sought near by, then farther away, and is missing when it is nowhere twice', () => {
    const { pageOf, read } = placesOf(30);
    const list = newestFirst(30).filter((id) => id !== 'v15');
    expect(pageOf('v15')).toBe(2);
    const pages: number[] = [];
    const missing: string[] = [];
    while (missing.length === 0 && pages.length < 20) {
      const page = pageOf('v15');
      pages.push(page);
      missing.push(...read(list, page));
    }
    expect(missing).toEqual(['v15']);
    expect([...new Set(pages)].sort()).toEqual([1, 2, 3]);
    expect(pages.length).toBeLessThanOrEqual(6);
  });

  test('one that was removed from the list makes nobody else missing', () => {
    const { read } = placesOf(30);
    const list = newestFirst(30);
    for (const page of [1, 2, 3]) read(list, page);
    const shorter = list.filter((id) => id !== 'v28');
    const missing: string[] = [];
    for (let round = 0; round < 4; round += 1) for (const page of [1, 2, 3]) missing.push(...read(shorter, page));
    expect(missing).toEqual(['v28']);
  });

  test('one that a list shows no more, and that says with each look to be shorter, is missing in the end', () => {
    const { pageOf, read } = placesOf(30);
    const list = newestFirst(30).filter((id) => id !== 'v15');
    const missing: string[] = [];
    for (let count = 0; !missing.includes('v15') && count < 450; count += 1) {
      missing.push(...read(list, pageOf('v15'), 90_000 - count * 50));
    }
    expect(missing).toContain('v15');
  });

  test('those that were seen above where a list ends now are sought, and missing when they are nowhere', () => {
    const { pageOf, read } = placesOf(30);
    read(newestFirst(30), 1, 30);
    const others = Array.from({ length: 10 }, (_, index) => `x${index}`);
    const missing: string[] = [];
    for (let count = 0; count < 3; count += 1) missing.push(...read(others, pageOf('v30'), others.length));
    expect(missing).toContain('v30');
  });
});
