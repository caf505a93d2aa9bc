import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asRunLine } from '../../../src/lock/split-lines.ts';
import { writeLine } from '../../../src/lock/write.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { codes, golden, good, header, jobIds, read } from './records.ts';

const { jobId: _id, ...bought } = good;

/** What runs append, one after the other: nothing tells of a job before it was said that it would be bought. */
const journal = Buffer.from(
  [
    header,
    writeLine({
      ...bought,
      state: 'intent',
      send: 's1',
      since: '2030-01-01T00:00:00.000Z',
      request: { prompt: 'ü "\\\n 😀', '1': [] },
    }),
    writeLine({
      ...bought,
      fingerprint: '1:other',
      address: 'b',
      state: 'intent',
      send: 's1',
      since: '2030-01-01T00:00:00.000Z',
    }),
    writeLine({ ...good, state: 'running', credits: 12 }),
    writeLine({ ...good, kind: 'upload', address: 'logo', fingerprint: '1:file', url: 'https://example.com/a.png' }),
    writeLine({ ...bought, fingerprint: '1:other', address: 'b', state: 'refused', error: 'no' }),
    writeLine({
      ...good,
      credits: 12,
      outputs: [{ path: 'a.png', sha256: '0'.repeat(64), bytes: 1, type: 'image/png' }],
    }),
  ].join(''),
);

describe('a torn tail', () => {
  const lineStarts = [...journal.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));

  it('is found at every byte, and what is appended after the cut is kept', () => {
    const added = writeLine({ ...good, state: 'running', address: 'added@later', jobId: 'job-added' });
    for (let length = 0; length < journal.length; length++) {
      const cut = journal.subarray(0, length);
      const reading = read(cut);
      expect(reading.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      const whole = lineStarts.filter((start) => start <= length + 1).length;
      const lines = journal.toString().split('\n').slice(0, whole);
      expect(reading.tornTailAt === undefined).toBe(
        lineStarts.includes(length) || lineStarts.includes(length + 1) || length === 0,
      );
      const kept = cut.subarray(0, reading.tornTailAt ?? cut.length).toString();
      expect(kept.trimEnd()).toBe(lines.join('\n').trimEnd());
      const start = kept === '' ? header : kept.endsWith('\n') ? kept : `${kept}\n`;
      const after = read(start + added);
      expect(after.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(jobIds(after.lock)).toEqual([...jobIds(reading.lock), 'added@later job-added'].sort());
    }
  });

  it.each([
    ['after whole lines', `${header}${JSON.stringify(good)}\n`, 1],
    ['after a line without its LF', `${header}${JSON.stringify(good)}`, 1],
    ['after half a line', `${header}${JSON.stringify(good).slice(0, 30)}`, 0],
    ['alone', '', 0],
  ])('can be zero bytes, %s', (_name, start, steps) => {
    const reading = read(`${start}${'\0'.repeat(100)}`);
    expect(reading.diagnostics).toMatchObject([{ code: 'MB2004', severity: 'warning' }]);
    expect(reading.lock.steps.size).toBe(steps);
    expect(reading.tornTailAt).toBe(steps === 1 ? start.length : start.startsWith('{') ? header.length : 0);
    expect(reading.needsRewrite).toBe(true);
  });

  it('can end in the middle of a character', () => {
    const bytes = Buffer.from(`${header}${JSON.stringify({ ...good, address: 'ü' })}`);
    expect(codes(bytes.subarray(0, bytes.indexOf(0xc3) + 1))).toEqual(['MB2004']);
  });
});

describe('I12 the end of a finished file is lost, not torn', () => {
  const finished = `{"mediabatch":"lock","version":2,"writtenBy":"0.1.0"}\n${writeLine(good)}`;
  const next = writeLine({ ...bought, address: 'z', state: 'intent', send: 's1', since: '2030-01-01T00:00:00.000Z' });
  const appended = asRunLine(next);

  it.each([
    ['a record that is cut before its state', next.slice(0, next.indexOf('"state"')), ['MB2001']],
    ['zero bytes in its place', '\0\0\0', ['MB2001']],
    ['an append that is cut', appended.slice(0, appended.indexOf('"state"')), ['MB2004']],
    ['zero bytes where a run had begun', `${appended}\0\0\0`, ['MB2004']],
    ['what may be either', '{"', ['MB2004']],
  ])('%s', (_what, end, expected) => {
    expect(codes(finished + end)).toEqual(expected);
  });

  it('an append says the same as the line of a record', () => {
    expect(appended.startsWith('{"kind":"image","address":"z",')).toBe(true);
    expect(JSON.parse(appended)).toEqual(JSON.parse(next));
    expect(asRunLine(`{"address":"\\"","kind":"image","x":1}\n`)).toBe(`{"kind":"image","address":"\\"","x":1}\n`);
  });
});

describe('a flipped bit', () => {
  const ids = jobIds(read(golden).lock);
  forAll([fc.nat(golden.length - 1), fc.nat(7)], runs(1000))('never crashes, drops no purchase silently', (at, bit) => {
    const bytes = Buffer.from(golden);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
    const reading = read(bytes);
    const isTold = reading.diagnostics.some(({ code }) => code !== 'MB2006');
    // An id, an address or a digest with another letter is a valid one: without a word as many ids stay as there were.
    if (!isTold) expect(jobIds(reading.lock).length).toBeGreaterThanOrEqual(ids.length - 1);
    for (const { address } of reading.lock.steps.values()) expect(address).not.toBe('');
  });
});
