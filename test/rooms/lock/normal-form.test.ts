import { describe, expect, it } from 'vitest';
import { joinParts, joinRecords, lineOf, recordOf } from '../../../src/lock/join.ts';
import type { LockLine, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { writeLine } from '../../../src/lock/write.ts';

const act = { fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k' };
const open: Purchase = { ...act, state: 'intent', send: 's1' };
const openWith = (more: Partial<Purchase>) => ({ ...open, ...more }) as Purchase;
const done = (jobId: string, more: object = {}) => ({ ...act, state: 'done', jobId, ...more }) as Purchase;
const running = (jobId: string, more: object = {}) => ({ ...done(jobId, more), state: 'running' }) as Purchase;
const refused = (more: object = {}) => ({ ...act, state: 'refused', ...more }) as Purchase;
const output = (path: string, digit: string) => [{ path, sha256: digit.repeat(64), bytes: 1, type: 'image/png' }];

/** What is on record of these facts, where these sends are closed. */
function fold(purchases: readonly Purchase[], closes?: readonly string[]): Purchase[] {
  const [first, ...earlier] = purchases;
  if (first === undefined) throw new Error('no fact');
  const line = { address: 'hero', kind: 'image', ...first, earlier };
  return recordOf({ ...line, ...(closes !== undefined && { closes }) }).purchases;
}

describe('the normal form', () => {
  const cases: { name: string; facts: Purchase[]; closes?: string[]; expected: Partial<Purchase>[] }[] = [
    {
      name: 'a job takes the place of the send that it closes',
      facts: [
        openWith({ since: '2030-01-01T00:00:00.000Z', request: { prompt: 'p' } }),
        running('j1', { credits: 3, request: { prompt: 'p' } }),
      ],
      closes: ['s1'],
      expected: [{ state: 'running', jobId: 'j1', credits: 3, request: { prompt: 'p' } }],
    },
    {
      name: 'a job of the same purchase answers no send by itself: it may be the answer to another one',
      facts: [open, done('j1')],
      expected: [{ state: 'done' }, { state: 'intent', send: 's1' }],
    },
    {
      name: 'a job answers no send but its own',
      facts: [open, openWith({ send: 's2' }), done('j1')],
      closes: ['s2'],
      expected: [{ state: 'done' }, { state: 'intent', send: 's1' }],
    },
    {
      name: 'a refusal closes no send, whatever comes last',
      facts: [refused({ error: 'no credits' }), openWith({ state: 'unresolved' })],
      expected: [
        { state: 'unresolved', send: 's1' },
        { state: 'refused', error: 'no credits' },
      ],
    },
    {
      name: 'nor does it beside its own job',
      facts: [open, refused(), done('j2', { attempt: 2, key: 'k2' })],
      expected: [{ state: 'done' }, { state: 'intent', send: 's1' }],
    },
    {
      name: 'a refusal that closes its own send stays, by its key',
      facts: [open, refused({ error: 'no' })],
      closes: ['s1'],
      expected: [{ state: 'refused', key: 'k', error: 'no' }],
    },
    {
      name: 'two refusals of one key are one, of two keys two',
      facts: [refused({ error: 'a' }), refused({ error: 'b' }), refused({ attempt: 2, key: 'k2' })],
      expected: [{ key: 'k2' }, { key: 'k', error: 'b' }],
    },
    {
      name: 'what was refused goes once its purchase has a job, under whatever key; that of others stays',
      facts: [
        refused(),
        running('j', { attempt: 2, key: 'k2' }),
        refused({ generation: 2, key: 'k3' }),
        refused({ fingerprint: '1:bb', key: 'k4' }),
      ],
      expected: [{ key: 'k3' }, { jobId: 'j' }, { key: 'k4' }],
    },
    {
      name: 'a send that was written off goes when its answer is known after all',
      facts: [openWith({ writtenOff: true })],
      closes: ['s1'],
      expected: [],
    },
    {
      name: 'what was forgotten stays so, and nothing else does with it',
      facts: [done('a', { forgotten: true }), done('a'), done('b')],
      expected: [{ jobId: 'a', forgotten: true }, { jobId: 'b' }],
    },
    {
      name: 'a finished job has no clock and a done one no error',
      facts: [
        running('j', { since: '2030-01-01T00:00:00.000Z' }),
        { ...act, state: 'failed', jobId: 'j', error: 'e' },
        done('j'),
      ],
      expected: [{ state: 'done', jobId: 'j' }],
    },
    {
      name: 'two jobs of one act are both kept, the finished one first',
      facts: [running('a'), done('b')],
      expected: [
        { jobId: 'b', state: 'done' },
        { jobId: 'a', state: 'running' },
      ],
    },
    {
      name: 'a newer generation is the face, whatever became of the older one',
      facts: [done('a'), openWith({ generation: 2 })],
      expected: [
        { generation: 2, state: 'intent' },
        { generation: 1, state: 'done' },
      ],
    },
    {
      name: 'of one generation what is further is the face, and of that the later attempt',
      facts: [
        refused({ attempt: 3, key: 'k3' }),
        openWith({ attempt: 2 }),
        openWith({ attempt: 4, send: 's4' }),
        openWith({ state: 'unresolved', send: 's0' }),
      ],
      expected: [{ send: 's0' }, { send: 's4' }, { send: 's1' }, { key: 'k3' }],
    },
  ];

  it.each(cases)('$name', ({ facts, closes, expected }) => {
    for (const order of [facts, [...facts].reverse()]) {
      const purchases = fold(order, closes);
      expect(purchases).toHaveLength(expected.length);
      expect(purchases).toMatchObject(expected);
      for (const purchase of purchases) {
        if (purchase.state === 'done') expect(purchase).not.toHaveProperty('error');
        if (purchase.jobId !== undefined) expect(purchase).not.toHaveProperty('since');
      }
    }
  });

  it('of an open send is what asking for its answer takes, of a job what it cost and gave, of a refusal its reason', () => {
    // A line may have them all.
    const all = {
      ...act,
      state: 'unresolved',
      send: 's1',
      account: 'acc',
      digest: 'd',
      writtenOff: true,
      forgotten: true,
      since: '2030-01-01T00:00:00.000Z',
      fence: '',
      resent: true,
      keyKnown: true,
      decided: true,
      credits: 2,
      error: 'e',
      outputs: output('a.png', '0'),
      recordId: 'r',
      url: 'https://a.example/a',
      revision: 1,
      take: 2,
      request: { prompt: 'p' },
    };
    const common = { ...act, forgotten: true, error: 'e', take: 2, request: { prompt: 'p' } };
    const { send, account, digest, writtenOff, since, fence, resent, keyKnown } = all;
    const { credits, outputs, recordId, url, revision } = all;
    const ofSend = { send, account, digest, writtenOff, since, fence, resent, keyKnown };
    const ofJob = { jobId: 'j', credits, outputs, recordId, url, revision };
    expect(fold([all as unknown as Purchase])).toStrictEqual([{ ...common, ...ofSend, state: 'unresolved' }]);
    expect(fold([{ ...all, state: 'refused' } as unknown as Purchase])).toStrictEqual([
      { ...common, state: 'refused', decided: true },
    ]);
    expect(fold([{ ...all, state: 'failed', jobId: 'j' } as unknown as Purchase])).toStrictEqual([
      { ...common, ...ofJob, state: 'failed' },
    ]);
    expect(fold([{ ...all, state: 'failed', jobId: 'j', revision: 0 } as unknown as Purchase])[0]).not.toHaveProperty(
      'revision',
    );
  });

  it('takes no explanation from one fact to another', () => {
    const facts: Purchase[] = [open, { ...act, state: 'done', jobId: 'j', take: 2, request: { prompt: 'p' } }];
    expect(fold(facts)).toStrictEqual([{ ...act, state: 'done', jobId: 'j', take: 2, request: { prompt: 'p' } }, open]);
  });

  it('does not share what it was given', () => {
    const a: StepRecord = { address: 'x', kind: 'image', purchases: [open] };
    const before = structuredClone(a);
    joinRecords(a, { ...a, purchases: [{ ...act, state: 'done', jobId: 'j', credits: 2 }], closes: ['s1'] });
    expect(a).toEqual(before);
  });
});

describe('the line of a record', () => {
  const request = { prompt: 'p' };

  it('has the request of the newest purchase, and of what may still be asked for or has no known charge', () => {
    const record = recordOf({
      address: 'hero',
      kind: 'image',
      ...act,
      generation: 9,
      state: 'done',
      jobId: 'j9',
      request,
      earlier: [
        { ...open, generation: 8, request },
        { ...act, generation: 7, state: 'unresolved', send: 's7', writtenOff: true, request },
        { ...act, generation: 6, state: 'done', jobId: 'j6', request },
        { ...act, generation: 5, state: 'failed', jobId: 'j5', credits: 0, error: 'no', request },
        { ...act, generation: 4, state: 'refused', error: 'no credits', request },
      ],
    });
    expect(record.purchases.every((purchase) => purchase.request === request)).toBe(true);
    const { earlier, ...newest } = lineOf(record) as LockLine;
    expect(newest).toMatchObject({ generation: 9, request });
    expect(earlier?.map((one) => [one.generation, one.request !== undefined, one.error])).toEqual([
      [8, true, undefined],
      [7, true, undefined],
      [6, true, undefined],
      [5, false, 'no'],
      [4, false, undefined],
    ]);
  });

  it('keeps the request of the newest job that is done, after later ones that came to nothing', () => {
    const job = (generation: number, state: 'done' | 'failed') => ({
      ...{ ...act, generation, state, jobId: `j${generation}`, credits: 2, request },
    });
    const keeps = (...purchases: Purchase[]) => {
      const [newest, ...earlier] = purchases;
      if (newest === undefined) throw new Error('no purchase');
      const line = lineOf(recordOf({ address: 'hero', kind: 'image', ...newest, earlier }));
      return line?.earlier?.map((one) => one.request !== undefined);
    };
    expect(keeps(job(4, 'failed'), job(3, 'failed'), job(2, 'done'), job(1, 'done'))).toEqual([false, true, false]);
    expect(keeps({ ...open, generation: 3 }, job(2, 'done'), job(1, 'done'))).toEqual([true, false]);
    expect(keeps(job(3, 'done'), job(2, 'failed'), job(1, 'done'))).toEqual([false, false]);
  });

  it('of a run says what is closed, and is read as it was written', () => {
    const line = { address: 'x', kind: 'image', ...open, closes: ['s1', 's2'] };
    expect(writeLine(line)).toBe(
      '{"address":"x","kind":"image","fingerprint":"1:aa","generation":1,"attempt":1,"state":"intent","key":"k","send":"s1","closes":["s1","s2"]}\n',
    );
    expect(recordOf(line)).toStrictEqual({ address: 'x', kind: 'image', purchases: [], closes: ['s1', 's2'] });
  });
});

describe('the kind of a record', () => {
  const image: StepRecord = { address: 'x', kind: 'image', purchases: [{ ...act, state: 'done', jobId: '7' }] };
  const video: StepRecord = {
    address: 'x',
    kind: 'video',
    purchases: [{ ...act, fingerprint: '1:bb', generation: 2, state: 'unresolved', send: 's2' }],
  };

  it('is that of the newest purchase; the others keep theirs', () => {
    for (const joined of [joinRecords(image, video), joinRecords(video, image)]) {
      expect(joined.kind).toBe('video');
      expect(joined.purchases).toMatchObject([{ send: 's2' }, { jobId: '7', kind: 'image' }]);
      expect(joined.purchases[0]).not.toHaveProperty('kind');
    }
  });

  it('is that of the one before, once a send of another kind has come to nothing', () => {
    const nothing: StepRecord = { address: 'x', kind: 'video', purchases: [], closes: ['s2'] };
    for (const joined of [
      joinParts('x', [image, video, nothing]),
      joinParts('x', [nothing, video, image]),
      joinRecords(joinRecords(image, video), nothing),
    ]) {
      expect(joined).toStrictEqual({ ...image, closes: ['s2'] });
    }
  });

  it('is read with each purchase that says so', () => {
    const text = writeLine(lineOf(joinRecords(image, video)) as LockLine);
    expect(text).toContain('"earlier":[{"kind":"image","fingerprint":"1:aa"');
    expect(text.match(/"kind"/g)).toHaveLength(2);
  });

  it('of one that says its own kind is that', () => {
    const [purchase] = image.purchases;
    if (purchase === undefined) throw new Error('no purchase');
    expect(joinParts('x', [{ kind: 'video', purchases: [{ ...purchase, kind: 'image' }] }])).toStrictEqual(image);
  });
});
