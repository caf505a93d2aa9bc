import { expect, test } from 'vitest';
import { hasNews } from '../../../src/campaign/on-engine/unseen-run.ts';
import { type Lock, lockVersion, type Purchase } from '../../../src/lock/record.ts';

const bought = (state: Purchase['state'], rest: Partial<Purchase>): Purchase => ({
  ...{ fingerprint: 'f', generation: 0, attempt: 0, key: 'k', state },
  ...rest,
});
const lockOf = (address: string, ...purchases: Purchase[]): Lock => ({
  version: lockVersion,
  steps: new Map([[address, { address, kind: 'video', purchases }]]),
});
const none: Lock = { version: lockVersion, steps: new Map() };
const open = bought('unresolved', { send: 's' });

test('a job, or a send without an answer, that a lock does not know is news to it', () => {
  const done = lockOf('film', bought('done', { jobId: 'j' }));
  expect(hasNews(done, none)).toBe(true);
  expect(hasNews(done, lockOf('renamed', bought('running', { jobId: 'j' })))).toBe(false);
  expect(hasNews(done, lockOf('film', bought('done', { jobId: 'other' })))).toBe(true);
  expect(hasNews(lockOf('film', bought('refused', {})), none)).toBe(false);
  expect(hasNews(lockOf('film', open), none)).toBe(true);
});

test('a send that was answered or decided about since is no news', () => {
  expect(hasNews(lockOf('film', open), lockOf('film', open))).toBe(false);
  expect(hasNews(lockOf('film', open), lockOf('film', bought('done', { jobId: 'j' })))).toBe(false);
  const decided = { address: 'film', kind: 'video', purchases: [], decisions: { sends: ['s'] } };
  expect(hasNews(lockOf('film', open), { ...none, steps: new Map([['film', decided]]) })).toBe(false);
});
