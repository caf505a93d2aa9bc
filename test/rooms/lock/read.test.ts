import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shell, way } from '../../../src/ground/advice.ts';
import { joinLocks } from '../../../src/lock/join.ts';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import { openSends, spentCredits } from '../../../src/lock/sends.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { codes, golden, good, header, jobIds, lock, read } from './records.ts';

describe('writing and reading', () => {
  forAll([lock], runs(400))('gives back what was written, byte for byte', (value) => {
    const text = writeLock(value);
    const reading = read(text);
    expect(writeLock(reading.lock)).toBe(text);
    expect(reading.needsRewrite).toBe(false);
    expect(reading.lock.service).toBe(value.service);
    expect(jobIds(reading.lock)).toEqual(jobIds(value));
  });

  const shuffled = lock.chain((value) => {
    const [first = '', ...lines] = writeLock(value).trimEnd().split('\n');
    const all = [first, ...lines, ...lines];
    return fc.tuple(fc.constant(value), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }));
  });
  forAll([shuffled], runs(300))('does not care for the order of lines, nor for lines that stand twice', (pair) => {
    const [value, lines] = pair;
    expect(writeLock(read(`${lines.join('\n')}\n`).lock)).toBe(writeLock(value));
  });

  it('reads a large file of repeated lines as the lines alone', () => {
    const [value] = fc.sample(fc.record({ one: lock }), { numRuns: 1, seed: 7 });
    if (value === undefined) throw new Error('no lock');
    const [first = '', ...lines] = writeLock(value.one).trimEnd().split('\n');
    const padding = JSON.stringify({ ...JSON.parse(lines[0] ?? '{}'), error: 'x'.repeat(500) });
    const once = [first, ...lines, padding, ''].join('\n');
    const many = `${once}${`${padding}\n`.repeat(Math.ceil(2 ** 25 / padding.length))}`;
    expect(writeLock(read(many).lock)).toBe(writeLock(read(once).lock));
  });

  it('sorts addresses by code units and keeps names that objects already have', () => {
    const names = ['ä', 'z', 'a', '__proto__', 'constructor', 'Z'];
    const text = header + names.map((address) => JSON.stringify({ ...good, address })).join('\n');
    const reading = read(text);
    expect(reading.diagnostics).toEqual([]);
    expect(reading.needsRewrite).toBe(true);
    const written = writeLock(reading.lock).trimEnd().split('\n').slice(1);
    expect(written.map((line) => JSON.parse(line).address)).toEqual(['Z', '__proto__', 'a', 'constructor', 'z', 'ä']);
  });

  it('writes the same bytes whatever the order of the fields', () => {
    const request = { prompt: 'p', aspectRatio: '1:1' };
    const turned = Object.fromEntries(Object.entries({ ...good, request }).reverse());
    const other = { ...good, request: { aspectRatio: '1:1', prompt: 'p' } };
    expect(writeLock(read(`${header}${JSON.stringify(turned)}\n`).lock)).toBe(
      writeLock(read(`${header}${JSON.stringify(other)}\n`).lock),
    );
  });

  it('keeps what it does not know wherever a newer version may have put it', () => {
    const more = { colour: { deep: ['red'] }, __proto__: 1, toString: 'x' };
    const known = { fingerprint: good.fingerprint, revision: 1 };
    const line = {
      ...good,
      outputs: [{ path: 'a.png', sha256: '0'.repeat(64), bytes: 1, type: 'image/png', ...more }],
      ...more,
      decisions: {
        pin: { ...known, ...more },
        accepted: [{ wanted: '1:bb', ...known, ...more }],
        verdicts: [{ fingerprint: good.fingerprint, job: 'job-1', revision: 1, ...more }],
        ...more,
      },
      earlier: [{ ...good, address: undefined, kind: undefined, jobId: 'job-2', ...more }],
    };
    const text = `{"mediabatch":"lock","version":2,"writtenBy":"7.1","colour":"red"}\n${JSON.stringify(line)}\n`;
    const reading = read(text);
    expect(reading.diagnostics.filter(({ code }) => code !== 'MB2006')).toEqual([]);
    expect(reading.lock).toMatchObject({ writtenBy: '7.1', unknownFields: { colour: 'red' } });
    const again = writeLock(joinLocks(reading.lock, read(text).lock));
    expect(again.split('\n').map((one) => (one === '' ? {} : JSON.parse(one)))).toEqual(
      text.split('\n').map((one) => (one === '' ? {} : JSON.parse(one))),
    );
    expect(read(again).needsRewrite).toBe(false);
  });

  it('joins the headers of two branches', () => {
    const [ours, theirs] = [
      '{"mediabatch":"lock","version":2,"writtenBy":"0.10.0","a":1,"b":"x"}\n',
      '{"mediabatch":"lock","version":2,"writtenBy":"0.9.9","b":"y","c":2}\n',
    ];
    const joined = '{"mediabatch":"lock","version":2,"writtenBy":"0.10.0","a":1,"b":"y","c":2}\n';
    for (const text of [ours + theirs, theirs + ours, `${ours}${theirs}${ours}`])
      expect(writeLock(read(text).lock)).toBe(joined);
  });

  it.each(['new', '', '1.2.3.4.5', '-1', 7])('refuses a header that was written by %j', (writtenBy) => {
    const { diagnostics } = read(`${JSON.stringify({ mediabatch: 'lock', version: 2, writtenBy })}\n`);
    expect(diagnostics[0]?.message).toContain('has a "writtenBy" that is not a version');
  });

  it('refuses what it cannot keep: a value that is nested too deeply, or a number that is none', () => {
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    for (const value of [deep, '1e999']) {
      const line = JSON.stringify({ ...good, colour: 0 }).replace('"colour":0', `"colour":${value}`);
      expect(codes(`${header}${line}\n`)).toEqual(['MB2001']);
    }
  });
});

describe('files that are read all the same', () => {
  const line = `${JSON.stringify(good)}\n`;
  const cases: { name: string; text: string; expected: string[]; steps?: number }[] = [
    { name: 'an empty file', text: '', expected: [], steps: 0 },
    { name: 'a header only', text: header, expected: [], steps: 0 },
    { name: 'a byte order mark', text: `\ufeff${header}${line}`, expected: [] },
    { name: 'CRLF', text: (header + line).replaceAll('\n', '\r\n'), expected: [] },
    { name: 'the header at the end', text: line + header, expected: [] },
    { name: 'two files put together, each with its mark', text: `\ufeff${header}\ufeff${line}`, expected: [] },
    {
      name: 'conflict markers',
      text: `${header}<<<<<<< HEAD\n${line}||||||| 1234567\n=======\n${line.replace('job-1', 'job-2')}>>>>>>> theirs\n`,
      expected: ['MB2004', 'MB2006'],
    },
    {
      name: 'a conflict marker as the last line, without LF',
      text: `${header}${line}>>>>>>> theirs`,
      expected: ['MB2004'],
    },
  ];

  it.each(cases)('$name', ({ text, expected, steps = 1 }) => {
    const reading = read(text);
    expect(reading.diagnostics.map(({ code }) => code)).toEqual(expected);
    expect(reading.lock.steps.size).toBe(steps);
    expect(reading.tornTailAt).toBeUndefined();
    expect(reading.needsRewrite).toBe(text !== header);
  });
});

describe('damage', () => {
  const cases: { name: string; line: string; says: string }[] = [
    { name: 'not JSON', line: '{"address":', says: 'is not JSON' },
    { name: 'not an object', line: '[1]', says: 'is not an object' },
    { name: 'no address', line: JSON.stringify({ ...good, address: undefined }), says: 'has no "address"' },
    {
      name: 'an open create without an id',
      line: JSON.stringify({ ...good, state: 'unresolved', jobId: undefined }),
      says: 'but no "send"',
    },
    {
      name: 'a number in a request that JSON cannot hold',
      line: JSON.stringify({ ...good, request: { a: [{ seed: 7 }] } }).replace('7', '1e999'),
      says: 'too large',
    },
    ...['../x.png', '/x.png', 'a\\b.png', 'C:x.png', 'a//b.png', './a.png', 'a\u0000.png', ''].map((path) => ({
      name: `the output path ${JSON.stringify(path)}`,
      line: JSON.stringify({ ...good, outputs: [{ path, sha256: '0'.repeat(64), bytes: 1, type: 'image/png' }] }),
      says: path === '' ? '"path"' : 'output path',
    })),
    { name: 'a foreign header', line: '{"mediabatch":"plan","version":1}', says: 'not to a lock' },
  ];

  it.each(cases)('$name', ({ line, says }) => {
    const reading = read(`${header}${line}\n${JSON.stringify(good)}\n`);
    expect(reading.diagnostics).toHaveLength(1);
    const [diagnostic] = reading.diagnostics;
    expect(diagnostic).toMatchObject({ code: 'MB2001', severity: 'error', place: { start: { line: 2, column: 1 } } });
    expect(diagnostic?.message).toContain('campaign.lock.jsonl:2: the line ');
    expect(diagnostic?.message).toContain(says);
    expect(diagnostic?.hint).toContainEqual(
      way('Nothing was sent; to restore the file', shell('git', 'restore', 'campaign.lock.jsonl')),
    );
    expect(diagnostic?.message).toMatch(/^[ -~…]+$/);
    expect(reading.lock.steps.size).toBe(1);
  });

  it('is not a torn tail when the last line is whole JSON', () => {
    expect(codes(`${header}{"address":"x"}`)).toEqual(['MB2001']);
  });

  it('is reported a limited number of times', () => {
    expect(codes(header + 'x\n'.repeat(1000))).toHaveLength(5);
  });

  it('is a request that is nested too deep, however deep', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const line = JSON.stringify({ ...good, request: { a: 1 } }).replace('"a":1', `"a":${deep}`);
    expect(read(`${header}${line}\n`).diagnostics).toMatchObject([{ code: 'MB2001' }]);
  });
});

it('a file of version 2, the first that was released, is read as it is, byte for byte', () => {
  const reading = read(golden);
  expect(reading.diagnostics).toEqual([]);
  expect(reading.needsRewrite).toBe(false);
  expect(writeLock(reading.lock)).toBe(golden.toString());
  expect(jobIds(reading.lock)).toEqual([
    'hero@de,16:9 img_8f1',
    'hero@de,16:9 img_902',
    'hero@en/2 img_777',
    'logo up_1',
    'song mus_1',
    'song mus_2',
    'teaser img_7',
  ]);
  expect(openSends(reading.lock, new Set()).map(({ purchase }) => purchase.send)).toEqual([
    '0123456789abcdef',
    'fedcba9876543210',
  ]);
});

const act = { fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k' };

function lockOf(steps: Record<string, Purchase[]>): Lock {
  const records = Object.entries(steps).map(([address, purchases]) => ({ address, kind: 'image', purchases }));
  return { version: 2, steps: new Map(records.map((record) => [record.address, record])) };
}

it('counts each job once, shared, failed and earlier ones included, and unknown charges as nothing', () => {
  const shared: Purchase = { ...act, state: 'done', jobId: 'a', credits: 5 };
  const lock = lockOf({
    one: [shared, { ...act, generation: 2, state: 'failed', jobId: 'b', credits: 7 }],
    two: [shared],
    three: [{ ...act, state: 'running', jobId: 'a' }],
    four: [
      { ...act, state: 'running', jobId: 'c' },
      { ...act, attempt: 2, state: 'intent', send: 's' },
    ],
  });
  expect(spentCredits(lock)).toBe(12);
});

it('counts one id for two requests as two charges: services number the jobs of each kind by themselves, or err', () => {
  const of = (fingerprint: string, credits: number): Purchase => ({
    ...act,
    fingerprint,
    state: 'done',
    jobId: '7',
    credits,
  });
  expect(spentCredits(lockOf({ image: [of('1:image', 5)], video: [of('1:video', 60)] }))).toBe(65);
  expect(spentCredits(lockOf({ hero: [of('1:video', 60), { ...of('1:image', 5), kind: 'image' }] }))).toBe(65);
});

it('counts of one job the highest charge that is known', () => {
  const of = (credits: number): Purchase => ({ ...act, state: 'done', jobId: '7', credits });
  expect(spentCredits(lockOf({ one: [of(5)], two: [of(6)], three: [of(4)] }))).toBe(6);
});

it('counts what was forgotten, and nothing that was never charged', () => {
  const lock = lockOf({
    one: [{ ...act, state: 'done', jobId: 'a', credits: 5, forgotten: true }],
    two: [{ ...act, state: 'unresolved', send: 's', writtenOff: true, ...({ credits: 9 } as object) }],
  });
  expect(spentCredits(lock)).toBe(5);
});
