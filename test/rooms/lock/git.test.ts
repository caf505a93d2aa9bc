import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { shell, way } from '../../../src/ground/advice.ts';
import { joinLocks, recordOf } from '../../../src/lock/join.ts';
import { readLock } from '../../../src/lock/read.ts';
import type { Decisions, Lock, LockLine, PurchaseState } from '../../../src/lock/record.ts';
import { openSends } from '../../../src/lock/sends.ts';
import { emptyLock, writeLine, writeLock } from '../../../src/lock/write.ts';
import { makeFolder } from '../../rig/folder.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';
import { forAll } from '../../rig/runs.ts';
import { golden, good, header, jobIds, read } from './records.ts';

describe('git', () => {
  const name = 'campaign.lock.jsonl';
  let folder = '';

  beforeEach(() => {
    folder = makeFolder();
    git('init', '--quiet', '--initial-branch=main');
  });

  /** A merge with conflicts ends with 1. */
  function git(...parameters: string[]): void {
    try {
      execFileSync('git', parameters, { cwd: folder, env: gitEnvironment, stdio: 'pipe' });
    } catch (error) {
      if (parameters[0] !== 'merge' && parameters[0] !== 'rebase') throw error;
    }
  }

  interface Facts {
    state: PurchaseState;
    jobId?: string;
    generation?: number;
    send?: string;
    writtenOff?: true;
    forgotten?: true;
    decisions?: Decisions;
    closes?: string[];
  }

  function step(address: string, facts: Facts): Lock {
    const { generation = 1, ...rest } = facts;
    const line = {
      address,
      kind: 'video',
      fingerprint: `1:${address}`,
      generation,
      attempt: 1,
      key: `k-${address}`,
      ...rest,
    };
    return { version: 2, service: 'abc', steps: new Map([[address, recordOf(line as unknown as LockLine)]]) };
  }

  function all(...locks: Lock[]): Lock {
    return locks.reduce(joinLocks, emptyLock());
  }

  function commit(lock: Lock | undefined, message: string): void {
    if (lock !== undefined) writeFileSync(join(folder, name), writeLock(lock));
    git('add', '.');
    git('commit', '--quiet', '--allow-empty', '-m', message);
  }

  const done = (jobId: string) => ({ state: 'done', jobId }) as const;
  const open = (send: string) => ({ state: 'unresolved', send }) as const;
  const answered = (jobId: string, send = 's') => ({ ...done(jobId), closes: [send] });
  const refused: Facts = { state: 'refused' };

  const common = all(step('a', done('a1')), step('m', open('s')), step('z', done('z1')));

  /** The steps of both branches, and the sends that wait for an answer after the merge. `apart`: git sees no conflict. */
  const scenarios: [string, Lock, Lock, open: string[], more?: { base?: Lock; apart?: true }][] = [
    ['both add a step, far apart', step('b', done('b1')), step('zz', done('zz1')), ['s'], { apart: true }],
    ['both add a step at the same place', step('b', done('b1')), step('c', done('c1')), ['s']],
    ['both get an answer to the same send', step('m', answered('m1')), step('m', answered('m2')), []],
    [
      'one finishes what the other sees running',
      step('m', { state: 'running', jobId: 'm1', closes: ['s'] }),
      step('m', answered('m1')),
      [],
    ],
    [
      'one redoes a step while the other pays for it',
      step('a', { ...done('a2'), generation: 2 }),
      step('a', { state: 'failed', jobId: 'a9', generation: 1 }),
      ['s'],
    ],
    ['both make the file', step('a', done('a1')), step('b', done('b1')), [], { base: emptyLock() }],
    [
      'one gets the answer, the other has something else to say',
      step('m', answered('m1')),
      step('zz', done('zz1')),
      [],
      { apart: true },
    ],
    ['one is refused what the other lost the answer to', step('b', refused), step('b', open('lost')), ['lost', 's']],
    ['one has a job beside a lost create', step('b', done('b1')), step('b', open('lost')), ['lost', 's']],
    ['both have lost an answer', step('b', open('one')), step('b', open('two')), ['one', 'two', 's']],
    ['one forgets a refusal, the other buys', step('b', { ...refused, forgotten: true }), step('b', done('b1')), ['s']],
    [
      'one decides that a send was not charged, the other sends once more beside it',
      step('m', { ...refused, decisions: { sends: ['s'] } }),
      step('m', { ...open('more'), generation: 2 }),
      ['more'],
    ],
    [
      'one writes a send off and buys again, the other sends once more beside it',
      all(step('m', { ...open('s'), writtenOff: true }), step('m', { ...done('m2'), generation: 2 })),
      step('m', { ...open('more'), generation: 2 }),
      ['more'],
    ],
  ];

  describe.each(['union', 'plain'])('a real merge, %s', (driver) => {
    describe.each(['merge', 'rebase'])('by %s', (way) => {
      it.each(scenarios)(
        'keeps what both branches know: %s',
        (_name, ours, theirs, stillOpen, { base = common, apart } = {}) => {
          writeFileSync(
            join(folder, '.gitattributes'),
            driver === 'union' ? `*.lock.jsonl merge=union text eol=lf\n` : '',
          );
          commit(base.steps.size === 0 ? undefined : base, 'base');
          git('checkout', '--quiet', '-b', 'theirs');
          commit(joinLocks(base, theirs), 'theirs');
          git('checkout', '--quiet', 'main');
          commit(joinLocks(base, ours), 'ours');
          git(...(way === 'merge' ? ['merge', '--quiet', 'theirs'] : ['rebase', '--quiet', 'theirs']));
          const reading = readLock(name, readFileSync(join(folder, name)));
          expect(reading.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
          const expected = all(base, ours, theirs);
          expect(jobIds(reading.lock)).toEqual(jobIds(expected));
          expect(openSends(reading.lock, new Set()).map(({ purchase }) => purchase.send)).toEqual(stillOpen);
          expect(writeLock(reading.lock)).toBe(writeLock(expected));
          const hasMarkers = reading.diagnostics.some(({ code }) => code === 'MB2004');
          expect(hasMarkers).toBe(driver === 'plain' && apart !== true);
        },
      );
    });
  });
});

/** A lock with every kind of line, and a text in it that some editors take for two lines. */
const text = `${golden.toString()}${writeLine({ ...good, address: 'line@end', request: { prompt: 'a\u2028b\u2029c\u0085d' } })}`;
const whole = read(text);
const lines = text.trimEnd().split('\n');

describe('a lock that an editor wrote', () => {
  const edits: [name: string, edited: string | Uint8Array][] = [
    ['CR LF', text.replaceAll('\n', '\r\n')],
    ['CR', text.replaceAll('\n', '\r')],
    ['CR, and none at the end', text.trimEnd().replaceAll('\n', '\r')],
    ['line ends of all kinds', lines.map((line, at) => line + (['\n', '\r\n', '\r'][at % 3] ?? '')).join('')],
    ['no line end at the end', text.trimEnd()],
    ['a byte order mark', `\ufeff${text}`],
    ['a byte order mark and CR', `\ufeff${text.replaceAll('\n', '\r')}`],
    ['blanks behind every line', text.replaceAll('\n', ' \t \n')],
    ['blanks behind the last line, without a line end', `${text.trimEnd()}   \t`],
    ['empty lines', text.replaceAll('\n', '\n\n\r\r\n')],
    ['blanks before every line', lines.map((line) => `  ${line}\n`).join('')],
    ['spaces between the parts of a line', lines.map((line) => `${spaced(line)}\n`).join('')],
    ['the lines the other way round', `${[...lines].reverse().join('\n')}\n`],
    ['every line twice', `${[...lines, ...lines].join('\n')}\n`],
    [
      'characters as escapes',
      text.replaceAll(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ],
  ];

  it.each(edits)('is read as it was: %s', (_name, edited) => {
    const reading = read(edited);
    expect(reading.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(writeLock(reading.lock)).toBe(writeLock(whole.lock));
    expect(reading.tornTailAt).toBeUndefined();
    expect(reading.needsRewrite).toBe(true);
  });

  it('names the line of a damage as the editor counts it', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const broken = [...lines.slice(0, 3), 'oh', ...lines.slice(3), ''].join(end);
      expect(read(broken).diagnostics[0]).toMatchObject({ code: 'MB2001', place: { start: { line: 4 } } });
    }
  });

  it('is cut where a run was cut off afterwards, and nowhere else', () => {
    for (const end of ['\r\n', '\r']) {
      const edited = text.replaceAll('\n', end);
      const reading = read(`${edited}{"address":"he`);
      expect(reading.tornTailAt).toBe(Buffer.byteLength(edited));
      expect(writeLock(reading.lock)).toBe(writeLock(whole.lock));
    }
  });
});

/** `{"a":1}` as `{ "a": 1 }`. */
function spaced(line: string): string {
  return JSON.stringify(JSON.parse(line), null, 1).replaceAll(/\n */g, ' ');
}

describe('a lock that is no list of lines any more', () => {
  const utf16 = Buffer.from(text, 'utf16le');
  const values = lines.map((line) => JSON.parse(line));
  const formatted = values.map((value) => JSON.stringify(value, null, 2));
  const cases: [name: string, edited: string | Uint8Array, says: string][] = [
    ['UTF-16', utf16, 'is not'],
    ['UTF-16 with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), 'is not'],
    ['UTF-16, the other way round', Buffer.from(utf16).swap16(), 'is not'],
    ['UTF-16 without a line end', utf16.subarray(0, -2), 'is not'],
    ['formatted', `${formatted.join('\n')}\n`, 'is not'],
    ['formatted, with CR', formatted.join('\n').replaceAll('\n', '\r'), 'is not'],
    ['formatted, and no line end at the end', formatted.join('\n'), 'is not'],
    ['one list', JSON.stringify(values, null, 2), 'is not'],
    ['one list in one line', JSON.stringify(values), 'is not'],
    ['all lines in one', lines.join(''), 'is not JSON'],
    ['all lines in one, with blanks', lines.join(' '), 'is not JSON'],
    ['the last two lines in one', `${lines.slice(0, -1).join('\n')}${lines.at(-1)}`, 'is not JSON'],
    ['broken at U+2028', text.replaceAll('\u2028', '\n'), 'is not JSON'],
    ['commas behind the lines', lines.join(',\n'), 'is not JSON'],
    ['a comment at the end', `${text}// ${lines.at(-1)}`, 'is not JSON'],
    ['a quote lost in the last line', text.trimEnd().replace(/"address":"line/, '"address":line'), 'is not JSON'],
    ['the start of the last line lost', `${lines.slice(0, -1).join('\n')}\n${lines.at(-1)?.slice(5)}`, 'is not JSON'],
    ['a line end in the last line', text.trimEnd().replace('"key"', '\n"key"'), 'is not JSON'],
    ['in another encoding', Buffer.from(text.trimEnd().replace('a\u2028b', 'ü'), 'latin1'), 'is not UTF-8'],
  ];

  it.each(cases)('%s: refused with the line and the way back, and nothing is cut', (_name, edited, says) => {
    const reading = read(edited);
    const [first] = reading.diagnostics;
    expect(first).toMatchObject({ code: 'MB2001', severity: 'error' });
    expect(first?.message).toMatch(/^campaign\.lock\.jsonl:\d+: /);
    expect(first?.message).toContain(says);
    expect(first?.hint).toContainEqual(
      way('Nothing was sent; to restore the file', shell('git', 'restore', 'campaign.lock.jsonl')),
    );
    expect(reading.tornTailAt).toBeUndefined();
  });

  const ids = jobIds(whole.lock);
  const bytes = Buffer.from(text.trimEnd());
  const pieces = fc.constantFrom('\r', '\n', ' ', '"', '{', '}', ',', '\\', '\0', '\u2028', 'x');
  const edit = fc.record({ at: fc.nat(bytes.length - 1), away: fc.nat(3), put: fc.array(pieces, { maxLength: 3 }) });
  forAll([fc.array(edit, { minLength: 1, maxLength: 3 })], 1500)(
    'after any edit all jobs are read, or the lock is refused, or an incomplete last line is reported',
    (edits) => {
      const edited = edits.reduce(
        (sum, { at, away, put }) =>
          Buffer.concat([sum.subarray(0, at), Buffer.from(put.join('')), sum.subarray(at + away)]),
        bytes,
      );
      const reading = read(edited);
      const isTold = reading.diagnostics.some(({ code }) => code !== 'MB2006');
      if (!isTold) expect(jobIds(reading.lock).length).toBeGreaterThanOrEqual(ids.length - 1);
      if (reading.tornTailAt !== undefined)
        expect(edited.subarray(reading.tornTailAt).toString()).toMatch(/^(?:\{[\s\S]*)?\0*$/);
    },
  );
});

describe('a lock whose end was cut off by something else', () => {
  it('is refused where its last line tells of a job that no line before announces, at whatever byte', () => {
    const starts = [...golden.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));
    let refused = 0;
    for (let length = 0; length < golden.length; length++) {
      const cut = golden.subarray(0, length);
      const reading = read(cut);
      const before = golden.subarray(0, starts.filter((start) => start <= length).at(-1) ?? 0);
      const isError = reading.diagnostics.some(({ severity }) => severity === 'error');
      const last = Buffer.from(cut).toString().split('\n').at(-1) ?? '';
      // Uploads cost nothing, and are told without an intent: the start of such a line is what a run can leave.
      const isAnnounced =
        last.includes('"kind":"upload"') || !/"jobId":"|"state":"(done|failed|lost|running)"/.test(last);
      const isWhole = reading.tornTailAt === undefined;
      if (isError) refused++;
      else expect([last, isAnnounced || isWhole]).toEqual([last, true]);
      for (const one of jobIds(read(before).lock)) expect(jobIds(reading.lock)).toContain(one);
    }
    expect(refused).toBeGreaterThan(500);
  });

  it('is torn where a run may have left it: an intent, a job that was intended before, an upload', () => {
    const { jobId: _id, ...bought } = good;
    const intent = writeLine({ ...bought, state: 'intent', send: 's1', since: '2030-01-01T00:00:00.000Z' });
    const running = writeLine({ ...good, state: 'running' });
    const upload = writeLine({ ...good, kind: 'upload', fingerprint: '1:file' });
    for (const [before, last] of [
      [header, intent],
      [header + intent, running],
      [header, upload],
    ] as const) {
      const reading = read(before + last.slice(0, -5));
      expect(reading.diagnostics.map(({ code, severity }) => `${code} ${severity}`)).toEqual(['MB2004 warning']);
      expect(reading.tornTailAt).toBe(before.length);
    }
    expect(read(header + running.slice(0, -5)).tornTailAt).toBeUndefined();
  });
});
