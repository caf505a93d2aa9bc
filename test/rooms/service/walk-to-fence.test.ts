import { expect, test } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { image } from '../../../src/kinds/image.ts';
import { video } from '../../../src/kinds/video.ts';
import { findNewest, walkToFences } from '../../../src/service/look-up-jobs.ts';

/** Each letter is a job; a later letter is a newer one. `?` is a record without an id. */
function serve(pages: readonly string[]): (path: string) => Promise<Json> {
  return (path) => {
    const page = Number(new URL(path, 'http://localhost').searchParams.get('page'));
    const generations = [...(pages[page - 1] ?? '')].map((id) =>
      id === '?' ? {} : { id, status: 'COMPLETED', createdAt: new Date(id.charCodeAt(0) * 1000).toISOString() },
    );
    return Promise.resolve({ generations, pagination: { hasNextPage: page < pages.length } });
  };
}

test.each<[string, string[], string, string, boolean]>([
  ['stops at the fence', ['fed', 'cba'], 'c', 'fed', true],
  ['a job on two pages counts once', ['fed', 'dcb'], 'c', 'fed', true],
  ['stops at the older one of two fences', ['fed', 'cba'], 'e,c', 'fed', true],
  ['an empty list that had been empty', [''], '', '', true],
  ['all of a list that had been empty', ['fe', 'd'], '', 'fed', true],
  ['the fence is gone', ['fe', 'd'], 'x', 'fed', false],
  ['out of order', ['efd', 'c'], 'c', 'efd', false],
  ['a record that cannot be read', ['f?d', 'c'], 'c', 'fd', false],
  ['many pages', [...'zyxwvutsrqponmlkjihgfedcba'], 'a', 'zyxwvutsrqponmlkjihgfedcb', true],
])('%s', async (_, pages, fence, jobs, complete) => {
  const walk = await walkToFences(video, { fences: fence.split(','), get: serve(pages) });
  expect([walk.jobs.map(({ jobId }) => jobId).join(''), walk.complete]).toEqual([jobs, complete]);
});

test.each<[string, (page: string | null) => Json, boolean]>([
  ['says of more, and has one page', () => ({ hasNextPage: true, totalCount: 3 }), false],
  ['counts more than it shows', () => ({ hasNextPage: false, totalCount: 3 }), false],
  ['counts what it shows', () => ({ hasNextPage: false, totalCount: 2 }), true],
  ['does not say, and sends the same page again', () => ({}), false],
])('a list that had been empty and %s', async (_, pagination, complete) => {
  const get = async (path: string): Promise<Json> => ({
    generations: ['e', 'd'].map((id) => ({
      ...{ id, status: 'COMPLETED', createdAt: new Date(id.charCodeAt(0) * 1000).toISOString() },
    })),
    pagination: pagination(new URL(path, 'http://localhost').searchParams.get('page')),
  });
  expect((await walkToFences(video, { fences: [''], get })).complete).toBe(complete);
});

test('a list that never ends is given up', async () => {
  let read = 0;
  const get = async () => {
    read += 1;
    const createdAt = new Date(1e12 - read * 1000).toISOString();
    return { generations: [{ id: `v${read}`, status: 'COMPLETED', createdAt }], pagination: { hasNextPage: true } };
  };
  expect((await walkToFences(video, { fences: ['x'], get })).complete).toBe(false);
  expect(read).toBe(50);
});

test('no fence at all is no walk to rely on', async () => {
  expect((await walkToFences(video, { fences: [], get: serve(['fed']) })).complete).toBe(false);
});

test.each<[string, string]>([
  ['fed', 'f'],
  ['', ''],
])('the newest of %j is %j', async (page, newest) => {
  expect(await findNewest(video, serve([page]))).toBe(newest);
});

test('a kind without a list has no newest job, and no walk', async () => {
  const get = () => Promise.reject(new Error('it was asked'));
  await expect(findNewest(image, get)).rejects.toThrow('image has no list');
  expect(await walkToFences(image, { fences: ['a'], get })).toEqual({ jobs: [], older: [], complete: false });
});

test('a newest record without an id is no fence', async () => {
  await expect(findNewest(video, serve(['?ed']))).rejects.toThrow('no usable id');
});
