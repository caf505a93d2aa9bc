import { describe, expect, it } from 'vitest';
import { joinLocks } from '../../../src/lock/join.ts';
import type { Purchase } from '../../../src/lock/record.ts';
import { openSends, sendOf } from '../../../src/lock/sends.ts';
import { emptyLock, writeLock } from '../../../src/lock/write.ts';
import { read } from './records.ts';

const oldHeader = '{"mediabatch":"lock","version":1}\n';
const act = { address: 'a', kind: 'video', fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k' };
const open = { ...act, state: 'unresolved', since: '2030-01-01T00:00:00.000Z' };
const running = { ...act, state: 'running', jobId: 'j' };
const done = { ...act, state: 'done', jobId: 'j' };

function upgraded(...lines: object[]) {
  const reading = read(oldHeader + lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  expect(reading.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return reading.lock;
}

const purchasesIn = (...lines: object[]): Purchase[] => upgraded(...lines).steps.get('a')?.purchases ?? [];
const statesIn = (...lines: object[]): string[] => purchasesIn(...lines).map(({ state }) => state);
const idOf = (line: object): string =>
  openSends(upgraded(line), new Set()).map(({ purchase }) => sendOf(purchase))[0] ?? '';

describe('the name of a create of version 1', () => {
  it('is the same wherever its line stands, and whatever else is there', () => {
    expect(idOf(open)).toMatch(/^v1-[0-9a-f]{16}$/);
    expect(idOf({ ...open, error: 'later' })).toBe(idOf(open));
    expect(idOf({ ...act, generation: 2, state: 'done', jobId: 'j2', earlier: [open] })).toBe(idOf(open));
    const twice = joinLocks(upgraded(open), upgraded({ ...open, address: 'b' }));
    expect(openSends(twice, new Set())).toHaveLength(1);
  });

  it.each([
    ['the request', { fingerprint: '1:bb' }],
    ['the purchase', { generation: 2 }],
    ['the attempt', { attempt: 2 }],
    ['the key', { key: 'k2' }],
    ['the time', { since: '2030-01-01T00:00:01.000Z' }],
    ['no time', { since: undefined }],
    ['the fence', { fence: 'x' }],
    ['an empty fence', { fence: '' }],
  ])('is another where another create is meant: %s', (_name, other) => {
    expect(idOf({ ...open, ...other })).not.toBe(idOf(open));
    expect(purchasesIn(open, { ...open, ...other })).toHaveLength(2);
  });

  it('is kept by what was sent once more, because a list had shown nothing', () => {
    const again = { ...open, since: '2030-01-02T00:00:00.000Z', fence: 'f', resent: true };
    const first = { ...open, fence: 'f' };
    expect(purchasesIn(first, again)).toMatchObject([{ send: idOf(first), since: open.since, resent: true }]);
    expect(purchasesIn(first, again)).toEqual(purchasesIn({ ...first, resent: true }));
    // Of another purchase, or where nothing stands before it, it is its own.
    expect(purchasesIn({ ...first, generation: 2 }, again)).toHaveLength(2);
    expect(purchasesIn(again)).toMatchObject([{ send: idOf(again) }]);
  });

  it('is not given where there is one', () => {
    expect(purchasesIn({ ...open, send: 's1' })).toMatchObject([{ send: 's1' }]);
  });
});

describe('the answer to a create of version 1', () => {
  it('is the job that the lines of its run tell of after it', () => {
    expect(statesIn(open, running)).toEqual(['running']);
    expect(statesIn(open, running, done)).toEqual(['done']);
    expect(statesIn({ ...open, state: 'intent' }, running)).toEqual(['running']);
    expect(statesIn(open, { ...open, since: '2030-01-01T00:00:01.000Z' }, running)).toEqual(['running']);
  });

  it.each<[string, object[], string[]]>([
    ['is none that stood before it', [running, open], ['running', 'unresolved']],
    ['is none that was over before: another branch bought it', [open, done], ['done', 'unresolved']],
    [
      'is none that had its time beside it: it stood in a settled lock',
      [open, { ...running, since: open.since }],
      ['running', 'unresolved'],
    ],
    ['is none that failed before', [open, { ...done, state: 'failed' }], ['failed', 'unresolved']],
    ['is none of another attempt', [open, { ...running, attempt: 2 }], ['running', 'unresolved']],
    ['is none of another purchase', [open, { ...running, generation: 2 }], ['running', 'unresolved']],
    ['is none of another request', [open, { ...running, fingerprint: '1:bb' }], ['running', 'unresolved']],
    ['is none of another step', [open, { ...running, address: 'b' }], ['unresolved']],
    ['is no refusal', [open, { ...act, state: 'refused' }], ['unresolved', 'refused']],
    ['is none on its own line', [{ ...running, earlier: [open] }], ['running', 'unresolved']],
  ])('%s', (_name, lines, states) => {
    expect(statesIn(...lines)).toEqual(states);
  });

  it('closes no send of this version', () => {
    expect(statesIn({ ...open, send: 's1' }, running)).toEqual(['running', 'unresolved']);
  });

  it('leaves what is closed already closed', () => {
    expect(statesIn({ ...open, send: 's1' }, { ...running, closes: ['s1'] })).toEqual(['running']);
    const both = [{ ...open, send: 's1' }, open, { ...running, closes: ['s1'] }];
    expect(statesIn(...both)).toEqual(['running']);
  });

  it('is asked for again where a run of version 1 was cut off', () => {
    const lock = upgraded(open);
    expect(openSends(lock, new Set())).toHaveLength(1);
    expect(joinLocks(lock, emptyLock()).steps.get('a')?.purchases).toEqual(lock.steps.get('a')?.purchases);
  });
});

describe('what people decided in version 1', () => {
  const again = { ...act, generation: 2, key: 'k2', state: 'refused', error: 'decided: buy it again' };

  it('to buy again whatever became of a create: it is written off', () => {
    const [face, before] = purchasesIn({ ...again, earlier: [open] });
    expect([face?.state, before?.state, before?.writtenOff]).toEqual(['refused', 'unresolved', true]);
    const bought = { ...act, generation: 2, attempt: 2, key: 'k3', state: 'done', jobId: 'j', earlier: [again, open] };
    expect(purchasesIn(bought)).toMatchObject([{ jobId: 'j' }, { state: 'unresolved', writtenOff: true }]);
  });

  it.each<[string, object]>([
    ['a refusal of the same purchase', { ...again, generation: 1 }],
    ['a refusal of an earlier one', { ...again, generation: 1, earlier: [{ ...open, generation: 2 }] }],
    ['a refusal of another request', { ...again, fingerprint: '1:bb' }],
    ['a later job', { ...done, generation: 2 }],
    ['a later create', { ...open, generation: 2 }],
  ])('%s says nothing of the kind', (_name, line) => {
    const purchases = purchasesIn({ earlier: [open], ...line });
    expect(purchases.some(({ state }) => state === 'unresolved')).toBe(true);
    expect(purchases.some(({ writtenOff }) => writtenOff)).toBe(false);
  });

  const forget = (forgotten: unknown, line: object = {}) =>
    purchasesIn({
      ...done,
      generation: 3,
      decisions: { forgotten, pin: { revision: 1 } },
      earlier: [{ ...done, generation: 2, jobId: 'j2' }, open, { ...act, fingerprint: '1:bb', state: 'refused' }],
      ...line,
    }).map((one) => `${one.generation} ${one.state}${one.forgotten ? ' forgotten' : ''}`);

  it('to forget: everything up to a generation, and nothing else', () => {
    expect(forget(2)).toEqual(['3 done', '2 done forgotten', '1 unresolved forgotten', '1 refused forgotten']);
    expect(forget(3)[0]).toBe('3 done forgotten');
    expect(forget(1)).toEqual(['3 done', '2 done', '1 unresolved forgotten', '1 refused forgotten']);
    expect(purchasesIn({ ...done, decisions: { forgotten: 1 } }, { ...done, jobId: 'other' })).toMatchObject([
      { jobId: 'j', forgotten: true },
      { jobId: 'other' },
    ]);
    expect(purchasesIn({ ...done, decisions: { forgotten: 1 } }, { ...done, jobId: 'other' })[1]).not.toHaveProperty(
      'forgotten',
    );
  });

  it.each([
    ['none', undefined],
    ['a word', '2'],
    ['half a generation', 2.5],
    ['a list', [2]],
    ['null', null],
  ])('to forget %s is nothing', (_name, forgotten) => {
    expect(forget(forgotten)).toEqual(['3 done', '2 done', '1 unresolved', '1 refused']);
  });

  it('is said of a send of this version, too, where the line is of that time', () => {
    const [one] = purchasesIn({ ...open, send: 's1', decisions: { forgotten: 1 } });
    expect(one).toMatchObject({ send: 's1', forgotten: true });
  });

  it('is not in what is written', () => {
    const text = writeLock(
      upgraded({ ...done, decisions: { forgotten: 1, pin: { fingerprint: '1:aa', revision: 1 } } }),
    );
    expect(text).toContain('"forgotten":true,"decisions":{"pin":{"fingerprint":"1:aa","revision":1}}');
    expect(text).toContain('"version":2');
    expect(read(text).needsRewrite).toBe(false);
  });
});

it('a line that has nothing of version 1 is taken as it is', () => {
  const { address: _address, kind: _kind, ...purchase } = act;
  const job = { ...purchase, generation: 2, state: 'done', jobId: 'j' };
  const sent = { ...purchase, state: 'intent', send: 's1' };
  const lock = upgraded({ ...act, ...sent, earlier: [job], closes: ['s2'] });
  expect([...lock.steps.values()]).toStrictEqual([
    { address: 'a', kind: 'video', purchases: [job, sent], closes: ['s2'] },
  ]);
});
