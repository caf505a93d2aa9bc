import { expect, test } from 'vitest';
import { type HolderNote, holderOf, parseNote, writeNote } from '../../../src/disk/lock/guard.ts';

const note: HolderNote = { id: '0123456789abcdef', host: 'here', pid: 7, since: '2026-11-22T12:00:00Z' };
const whole: HolderNote = { ...note, boot: 'b', machine: 'm', namespace: 'n', started: 's' };
const text = (fields: object) => JSON.stringify({ mediabatch: 'guard', version: 1, ...note, ...fields });

test.each([note, whole])('what is written is read', (written) => {
  const line = Buffer.from(writeNote(written)).toString();
  expect(line).toMatch(/^\{.*\}\n$/);
  expect(parseNote(line)).toEqual(written);
});

test('whoever holds it is told without what only a kernel knows', () => {
  expect(holderOf(whole)).toEqual(note);
});

test('what is known of a process is only taken as text', () => {
  expect(parseNote(text({ boot: 1, machine: null, namespace: {}, started: false }))).toEqual(note);
});

test.each([
  'no JSON',
  'null',
  '7',
  '[]',
  text({ mediabatch: 'lock' }),
  text({ version: 2 }),
  text({ id: undefined }),
  text({ id: '0123456789abcde' }),
  text({ id: '0123456789abcdeg' }),
  text({ id: '0123456789abcdef0' }),
  text({ id: '../456789abcdef0' }),
  text({ host: 1 }),
  text({ since: 1 }),
  text({ pid: 0 }),
  text({ pid: -1 }),
  text({ pid: 1.5 }),
  text({ pid: '7' }),
])('no guard of ours: %s', (other) => {
  expect(parseNote(other)).toBeUndefined();
});

test('the smallest process id is one', () => {
  expect(parseNote(text({ pid: 1 }))?.pid).toBe(1);
});
