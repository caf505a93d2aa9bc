import { expect, test } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { hasMore, readPageSize, readTotal } from '../../../src/service/listing.ts';

const page = (pagination: Json): Json => ({ pagination });

test.each<[Json, boolean]>([
  [page({ hasNextPage: true }), true],
  [page({ hasNextPage: false, totalPages: 9 }), false],
  [page({ totalPages: 3 }), true],
  [page({ totalPages: 2 }), false],
  [page({ totalPages: '2' }), true],
  [page(null), true],
  [[], true],
])('behind the second page of %j are others: %s', (body, more) => {
  expect(hasMore(body, 2)).toBe(more);
});

test.each<[Json, number, number | undefined]>([
  [page({ hasNextPage: true, limit: 100 }), 20, 20],
  [page({ hasNextPage: true, limit: 100 }), 0, 100],
  [page({ hasNextPage: false, limit: 100 }), 20, 100],
  [page({ limit: 20 }), 20, 20],
  [page({ limit: 19 }), 20, undefined],
  [page({ limit: 1 }), 0, 1],
  [page({ limit: 0 }), 0, undefined],
  [page({ limit: 20.5 }), 20, undefined],
  [page({ limit: '20' }), 20, undefined],
  [page(null), 20, undefined],
  [null, 20, undefined],
])('a page of %j with %i records has room for %j', (body, count, size) => {
  expect(readPageSize(body, count)).toBe(size);
});

test.each<[Json, number | undefined]>([
  [page({ totalCount: 0 }), 0],
  [page({ totalCount: 7 }), 7],
  [page({ totalCount: -1 }), undefined],
  [page({ totalCount: 1.5 }), undefined],
  [page({ totalCount: '7' }), undefined],
  [page({}), undefined],
  [page([]), undefined],
  [{}, undefined],
  ['x', undefined],
])('the list of %j has %j records', (body, total) => {
  expect(readTotal(body)).toBe(total);
});
