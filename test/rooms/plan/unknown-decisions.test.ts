import { expect, test } from 'vitest';
import type { Decisions, Lock, Purchase } from '../../../src/lock/record.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, earlier, job, lockOf, now, planOf, saved, song, stepOf, urlOf } from './facts.ts';

const graph = graphOfSteps([song('a'), song('b'), song('c', { request: { prompt: urlOf('a') } })]);
const a = stepOf(graph, 'a');
const since = new Date(now - 3_600_000).toISOString();
const approval: Decisions = { unknownFields: { approval: { by: 'mara' }, __proto__: 1 } };

const decided = (address: string, ...purchases: Purchase[]): Lock =>
  lockOf({ [address]: purchases }, { decisions: approval });
const told = (lock: Lock, facts = {}, steps = graph) =>
  planOf(steps, lock, facts).rows.map(({ address, action, blockedBy = '-' }) => `${address} ${action} ${blockedBy}`);

test('I42 nothing is bought at an address with a decision of an unknown kind, nor what needs it; others are', () => {
  const lock = decided('a', saved(earlier(a)));
  expect(told(lock)).toEqual(['a blocked newer', 'b create -', 'c blocked step']);
  const [row] = planOf(graph, lock).rows;
  expect([row?.reason.code, row?.order]).toEqual(['unknown-decision', undefined]);
  expect(row?.reason.text).toMatch(
    /^a newer mediabatch recorded a decision about it .* \(`approval`\): update mediabatch first$/,
  );
});

test.each<[string, Lock, object]>([
  ['it is asked for again', decided('a', saved(a)), { redo: new Set(['a']) }],
  ['its key was refused', decided('a', create(a, { state: 'refused' })), {}],
  ['what was bought is forgotten', decided('a', job(a, { state: 'done', forgotten: true })), {}],
])('I42 nothing is bought when %s', (_why, lock, facts) => {
  expect(told(lock, facts)[0]).toBe('a blocked newer');
});

test('I42 a decision counts for the step that has another name now', () => {
  const lock = decided('before', saved(a));
  expect(told(lock, { redo: new Set(['a']) })[0]).toBe('a blocked newer');
});

test('I42 a create whose answer was lost is not sent again, and stays open', () => {
  for (const lock of [decided('a', create(a, { since })), decided('gone', create(earlier(a), { since }))]) {
    const open = planOf(graph, lock).rows.find(({ action }) => action === 'unresolved');
    expect(open?.order).toBeUndefined();
    expect(open?.reason.text).toContain('it is not asked for: a newer mediabatch');
  }
});

test('what is paid is collected, and not bought again when it fails', () => {
  const retrying = graphOfSteps([song('a', { retry: { attempts: 3 } })]);
  const step = stepOf(retrying, 'a');
  const rows = planOf(retrying, decided('a', job(step))).rows;
  expect(rows[0]).toMatchObject({ action: 'attach', order: { jobId: 'a-1' } });
  expect(rows[0]?.order).not.toHaveProperty('retries');
  expect(planOf(retrying, lockOf({ a: [job(step)] })).rows[0]?.order).toHaveProperty('retries');
  expect(told(decided('a', saved(a)), {}, graphOfSteps([song('a')]))).toEqual(['a keep -']);
});
