import { describe, expect, test } from 'vitest';
import type { Finding } from '../../../src/contract/notice.ts';
import { ageText, spanText } from '../../../src/report/numbers.ts';
import { accountsJson, accountsView, expiryOf } from '../../../src/report/tables/accounts-text.ts';
import { doctorJson, doctorView } from '../../../src/report/tables/doctor-text.ts';
import { jobsView } from '../../../src/report/tables/jobs-text.ts';
import {
  chargesText,
  destroyJson,
  gcJson,
  leftoversView,
  recordsView,
} from '../../../src/report/tables/leftovers-text.ts';
import { paste } from './paste.ts';
import { textOf } from './samples.ts';

const now = Date.parse('2030-01-31T12:00:00Z');
const day = 86_400_000;

test.each([
  [0, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [3_600_000, '1 h'],
  [47 * 3_600_000, '47 h'],
  [2 * day, '2 d'],
  [-5, '0 s'],
])('%d ms are %s', (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

test.each([
  ['2030-01-31T11:00:00Z', '1 h'],
  ['2030-01-31T13:00:00Z', '0 s'],
  ['yesterday', '?'],
  [undefined, '?'],
])('the age of %s is %s', (time, text) => {
  expect(ageText(time, now)).toBe(text);
});

describe('accounts', () => {
  test.each([
    [undefined, 'unknown'],
    ['soon', 'unknown'],
    ['2030-01-31T12:00:00Z', 'past'],
    ['2030-02-07T12:00:00Z', 'soon'],
    ['2030-02-07T12:00:01Z', 'valid'],
  ])('one that expires at %s is %s', (expiresAt, expiry) => {
    expect(expiryOf(expiresAt, now)).toBe(expiry);
  });

  test('are shown with what to write into a post, and when they end', () => {
    const rows = [
      { id: 'a1', provider: 'google', name: 'Lamp TV', username: '@lamps', expiresAt: '2030-01-29T12:00:00Z' },
      { id: 'a2', provider: 'tiktok', name: 'Lamps', username: 'lamps', expiresAt: '2030-02-03T12:00:00Z' },
      { id: 'a3', provider: 'bluesky', name: '', username: '', expiresAt: '2030-12-24T12:00:00Z' },
      { id: 'a4', provider: 'threads', name: 'x', username: 'y' },
    ];
    expect(textOf(accountsView(rows, now))).toMatchInlineSnapshot(`
      "id  platform  name     username  expires
      a1  YouTube   Lamp TV  @lamps    expired 2 d ago
      a2  TikTok    Lamps    @lamps    in 3 d
      a3  Bluesky                      2030-12-24
      a4  Threads   x        @y        ?
      "
    `);
    expect(accountsJson(rows.slice(0, 1), now)).toEqual({
      mediabatch: 'accounts',
      version: 1,
      accounts: [{ ...rows[0], platform: 'YouTube', expiry: 'past' }],
    });
  });
});

test('jobs name their step, or that no lock knows them', () => {
  const rows = [
    {
      kind: 'video',
      jobId: 'j1',
      status: 'COMPLETED',
      createdAt: '2030-01-31T11:00:00Z',
      model: 'm',
      prompt: 'p',
      credits: 4,
      step: { lock: 'l', address: 'hero@a' },
    },
    { kind: 'thumbnail', jobId: 'j2', status: 'FAILED', prompt: 'p', error: 'too dark' },
    { kind: 'video', jobId: 'j3', status: 'DREAMING' },
  ];
  expect(textOf(jobsView(rows, now))).toMatchInlineSnapshot(`
    "kind       state      age  credits  model  step           prompt    job id
    video      completed  1 h        4  m      hero@a         p         j1
    thumbnail  failed       ?        ?         not on record  too dark  j2
    video      DREAMING     ?        ?         not on record            j3
    "
  `);
});

test('records that are to be removed: what they cost, and what would be lost', () => {
  const record = { kind: 'music', address: 'song', jobId: 'j1', credits: 4, files: 'intact' as const, isOrphan: false };
  const orphan = { ...record, address: 'old', jobId: 'j2', files: 'missing' as const, isOrphan: true };
  expect(textOf(recordsView([record, orphan]))).toMatchInlineSnapshot(`
    "kind   step          job id  credits  file here
    music  song          j1            4  yes
    music  old (orphan)  j2            4  missing: lost for good
    "
  `);
  expect(destroyJson([{ record, result: 'failed', error: 'no' }], [])).toMatchObject({
    mediabatch: 'destroy',
    records: [{ jobId: 'j1', result: 'failed', error: 'no' }],
  });
});

test('leftovers, and only deleted ones count as freed', () => {
  const output = { path: 'a.png', bytes: 10, is: 'output' as const, address: 'hero', credits: 2, jobId: 'j' };
  const partial = { path: 'b.part', bytes: 5, is: 'partial' as const };
  expect(textOf(leftoversView([output, partial], 0))).toMatchInlineSnapshot(`
    "file    size  credits  from
    a.png   10 B        2  hero
    b.part   5 B           a broken download
    "
  `);
  expect(chargesText([output, { ...output, path: 'a-2.png' }, partial])).toBe('2 credits');
  const json = gcJson(
    [
      { ...output, deleted: true },
      { ...partial, deleted: false },
    ],
    [],
  );
  expect(json).toMatchObject({ mediabatch: 'gc', version: 1, bytesFreed: 10 });
});

test('what is kept, by the name that it had', () => {
  const was = { is: 'kept' as const, was: 'images/hero.png', address: 'hero', since: '2030-01-01T00:00:00.000Z' };
  const rows = [
    { ...was, path: `${'a'.repeat(64)}.png`, bytes: 1_200_000, credits: 6, jobId: 'j1' },
    { ...was, path: `${'b'.repeat(64)}.png`, bytes: 10, jobId: 'j2' },
    { path: `${'c'.repeat(64)}.png`, bytes: 10, is: 'kept' as const, since: was.since },
  ];
  expect(textOf(leftoversView(rows, Date.parse('2030-02-01T00:00:00Z')), 80)).toMatchInlineSnapshot(`
    "file                                  size  credits  from               kept for
    images/hero.png (aaaaaaaa)          1.2 MB        6  hero                   31 d
    images/hero.png (bbbbbbbb)            10 B        ?  hero                   31 d
    cccccccccccccccc…ccccccccccccc.png    10 B        ?  no step on record      31 d
    "
  `);
  expect(chargesText(rows)).toBe('6 credits and an unknown number for 2 jobs');
  expect(chargesText(rows.slice(1))).toBe('an unknown number for 2 jobs');
});

test('the doctor groups findings, and says what to do', () => {
  const findings: Finding[] = [
    { about: 'environment', state: 'ok', text: 'Node' },
    { about: 'locks', state: 'warning', text: 'torn', hint: 'run again' },
    { about: 'environment', state: 'problem', text: 'no key\u001b[2J', exit: 77 },
  ];
  expect(textOf(doctorView(findings, paste))).toMatchInlineSnapshot(`
    "environment
      ok       Node
      problem  no key\\x1b[2J
    locks
      warning  torn
               → run again

    1 problem, 1 warning
    "
  `);
  expect(textOf(doctorView(findings.slice(0, 1), paste))).toContain('all is well');
  expect(doctorJson(findings, 77, paste)).toMatchObject({ mediabatch: 'doctor', version: 1, exit: 77 });
});
