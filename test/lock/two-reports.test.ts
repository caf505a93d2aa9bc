import { describe, expect, it } from 'vitest';
import type { StepRecord } from '../../src/lock/record.ts';
import { good, header, read } from './records.ts';

describe('two reports of one purchase become one', () => {
  /** In either order: the record of a step that two lines tell of. */
  function joined(a: object, b: object): StepRecord['purchases'] {
    const texts = [a, b].map((facts) => `${JSON.stringify({ ...good, ...facts })}\n`);
    const [one, other] = [texts, texts.toReversed()].map((lines) => {
      const [step] = read(header + lines.join('')).lock.steps.values();
      return step?.purchases ?? [];
    });
    expect(one).toEqual(other);
    return one ?? [];
  }
  const open = { state: 'intent', jobId: undefined };
  const file = (path: string) => [{ path, sha256: '0'.repeat(64), bytes: 1, type: 'image/png' }];

  it.each<[string, object, object, object]>([
    ['the higher charge', { credits: 2 }, { credits: 5 }, { credits: 5 }],
    ['a charge of 0 over none', { credits: 0 }, {}, { credits: 0 }],
    ['the known charge', {}, { credits: 5 }, { credits: 5 }],
    ['the state that is further', { state: 'running' }, { state: 'lost' }, { state: 'lost' }],
    [
      'the error of the state that is further',
      { state: 'lost', error: 'z' },
      { state: 'failed', error: 'a' },
      { state: 'failed', error: 'a' },
    ],
    ['of two errors the larger text', { state: 'failed', error: 'a' }, { state: 'failed', error: 'b' }, { error: 'b' }],
    [
      'the first time that it was sent',
      { ...open, since: '2030-01-01T00:00:09Z' },
      { ...open, since: '2030-01-01T00:00:10Z' },
      { since: '2030-01-01T00:00:09Z' },
    ],
    [
      'the earlier time, not the smaller text',
      { ...open, since: '2030-01-01T00:00:01.5Z' },
      { ...open, since: '2030-01-01T00:00:01Z' },
      { since: '2030-01-01T00:00:01Z' },
    ],
    [
      'of one time in two texts the smaller',
      { ...open, since: '2030-01-01T00:00:01.000Z' },
      { ...open, since: '2030-01-01T00:00:01Z' },
      { since: '2030-01-01T00:00:01.000Z' },
    ],
    ['the only time', open, { ...open, since: '2030-01-01T00:00:01Z' }, { since: '2030-01-01T00:00:01Z' }],
    [
      'the fence of what was sent first',
      { ...open, since: '2030-01-01T00:00:01Z', fence: 'z' },
      { ...open, since: '2030-01-01T00:00:02Z', fence: 'a' },
      { fence: 'z' },
    ],
    ['of two fences of one time the smaller', { ...open, fence: 'b' }, { ...open, fence: 'a' }, { fence: 'a' }],
    ['an empty fence', { ...open, fence: '' }, { ...open, fence: 'a' }, { fence: '' }],
    ['the only fence', { ...open, fence: 'a' }, open, { fence: 'a' }],
    ['that it was sent once more', { ...open, resent: true }, open, { resent: true }],
    [
      'the files of the higher revision',
      { revision: 2, outputs: file('a.png') },
      { revision: 1, outputs: file('b.png') },
      { outputs: file('a.png'), revision: 2 },
    ],
    ['files over none', { outputs: file('a.png') }, {}, { outputs: file('a.png') }],
    [
      'of the same revision the larger files',
      { outputs: file('a.png') },
      { outputs: file('b.png') },
      { outputs: file('b.png') },
    ],
    ['the larger record id', { recordId: 'a' }, { recordId: 'b' }, { recordId: 'b' }],
    ['the only record id', { recordId: 'a' }, {}, { recordId: 'a' }],
    [
      'the larger address',
      { url: 'https://a.example/a' },
      { url: 'https://a.example/b' },
      { url: 'https://a.example/b' },
    ],
    ['the smaller key', { key: 'a' }, { key: 'b' }, { key: 'a' }],
    ['the larger take', { take: 2 }, { take: 1 }, { take: 2 }],
    ['the only request', { request: { a: 1 } }, {}, { request: { a: 1 } }],
    ['the larger request', { request: { a: 1 } }, { request: { a: 2 } }, { request: { a: 2 } }],
  ])('%s', (_name, a, b, expected) => {
    const purchases = joined(a, b);
    expect(purchases).toHaveLength(1);
    expect(purchases[0]).toMatchObject(expected);
  });

  it('and a job answers the intent, with what both knew', () => {
    expect(joined({ ...open, request: { a: 1 }, take: 3 }, { credits: 2 })).toEqual([
      expect.objectContaining({ jobId: 'job-1', credits: 2, take: 3, request: { a: 1 } }),
    ]);
  });

  it('and a refusal stays beside a job', () => {
    const states = joined({ ...open, state: 'refused' }, {}).map(({ state }) => state);
    expect(states).toEqual(['done', 'refused']);
  });

  it('newest first: by generation, attempt, state, job, fingerprint', () => {
    const order = (a: object, b: object) =>
      joined(a, b).map((p) => `${p.generation} ${p.attempt} ${p.state} ${p.jobId} ${p.fingerprint.slice(0, 3)}`);
    expect([
      order({ generation: 2 }, { attempt: 2 }),
      order({ attempt: 2, state: 'failed' }, {}),
      order({ state: 'failed' }, { jobId: 'job-2' }),
      order({ jobId: 'job-2' }, {}),
      order({ fingerprint: '1:c' }, {}),
    ]).toMatchInlineSnapshot(`
      [
        [
          "2 1 done job-1 1:a",
          "1 2 done job-1 1:a",
        ],
        [
          "1 2 failed job-1 1:a",
          "1 1 done job-1 1:a",
        ],
        [
          "1 1 done job-2 1:a",
          "1 1 failed job-1 1:a",
        ],
        [
          "1 1 done job-1 1:a",
          "1 1 done job-2 1:a",
        ],
        [
          "1 1 done job-1 1:a",
          "1 1 done job-1 1:c",
        ],
      ]
    `);
  });
});
