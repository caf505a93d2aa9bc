import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { emptyLock } from '../../../src/lock/write.ts';
import { compareListed, type ListedRecord, matchListed } from '../../../src/plan/purchases/match-listed.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOf } from '../../rig/campaign.ts';

const fields = ['prompt', 'model', 'ratio', 'duration'];

describe('a listed record is of a request', () => {
  const cases: [
    name: string,
    request: { [field: string]: Json },
    echoes: { [field: string]: Json },
    likeness: string,
  ][] = [
    ['equal in all', { prompt: 'a', duration: 5 }, { prompt: 'a', duration: 5 }, 'exact'],
    ['what was left to the service', { prompt: 'a' }, { prompt: 'a', model: 'm', ratio: '1:1', duration: 5 }, 'exact'],
    ['what the record does not show', { prompt: 'a', ratio: '1:1' }, { prompt: 'a' }, 'exact'],
    ['another form of Unicode', { prompt: 'caf\u00e9' }, { prompt: 'cafe\u0301' }, 'exact'],
    ['another case', { prompt: 'A dog' }, { prompt: 'a dog' }, 'near'],
    ['trimmed', { prompt: 'a dog\n' }, { prompt: 'a dog' }, 'near'],
    ['another model', { prompt: 'a', model: 'm' }, { prompt: 'a', model: 'n' }, 'near'],
    ['another length', { prompt: 'a', duration: 5 }, { prompt: 'a', duration: 6 }, 'near'],
    ['a number as a text', { prompt: 'a', duration: 5 }, { prompt: 'a', duration: '5' }, 'near'],
    ['another text', { prompt: 'a' }, { prompt: 'b' }, 'other'],
    ['no text shown', { prompt: 'a', ratio: '1:1' }, { ratio: '1:1' }, 'other'],
    ['no text asked for', { ratio: '1:1' }, { prompt: 'a', ratio: '1:1' }, 'other'],
    ['a text that is a link of another step', { prompt: { $ref: 'x', field: 'url' } }, { prompt: 'a' }, 'other'],
    ['a link of another step', { prompt: { $ref: 'x', field: 'url' } }, { prompt: 'https://a.example/b' }, 'near'],
    [
      'a field that is a link of another step',
      { prompt: 'a', ratio: { $ref: 'x' } },
      { prompt: 'a', ratio: 'r' },
      'exact',
    ],
    ['a name that every object has', { prompt: 'a' }, { prompt: 'a', toString: 'x' }, 'exact'],
  ];
  test.each(cases)('%s', (_name, request, echoes, likeness) => {
    expect(compareListed(request, echoes, fields)).toBe(likeness);
  });
});

function job(jobId: string, prompt: string, minute = 0): ListedRecord {
  const createdAt = `2030-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;
  return { kind: 'video', jobId, echoes: { prompt }, createdAt };
}

function find(tasks: string, jobs: ListedRecord[]) {
  const graph = graphOf(`version: 1\nname: t\ntasks:\n${tasks}`);
  const { adopted, open } = matchListed(situate(graph, emptyLock()).matches, jobs, (kind) =>
    Object.keys(kinds[kind]?.list?.echoes ?? {}),
  );
  return {
    adopted: adopted.map(({ match, job: one }) => `${match.step.address} ${one.jobId}`),
    open: open.map(
      ({ match, jobs: found }) =>
        `${match.step.address} ${found.map((one) => `${one.job.jobId} ${one.likeness}`).join(' ')}`,
    ),
  };
}

describe('jobs and steps', () => {
  const one = '  a: { kind: video, with: { prompt: go } }\n';
  test('one of each: adopted', () => {
    expect(find(one, [job('j', 'go'), job('k', 'stay')])).toEqual({ adopted: ['a j'], open: [] });
  });
  test('two jobs for one step: a person decides', () => {
    expect(find(one, [job('j', 'go'), job('k', 'go')])).toEqual({ adopted: [], open: ['a j exact k exact'] });
  });
  test('only near: a person decides', () => {
    expect(find(one, [job('j', 'Go')])).toEqual({ adopted: [], open: ['a j near'] });
  });
  test('another kind: no', () => {
    expect(find(one, [{ ...job('j', 'go'), kind: 'voiceover', echoes: { text: 'go' } }])).toEqual({
      adopted: [],
      open: [],
    });
  });
  test('takes get their jobs in the order in which those were made', () => {
    const takes = '  a: { kind: video, takes: 3, with: { prompt: go } }\n';
    expect(find(takes, [job('late', 'go', 2), job('early', 'go', 1)])).toEqual({
      adopted: ['a/1 early', 'a/2 late'],
      open: [],
    });
  });
  test('a job that two different requests could have made: a person decides', () => {
    const two = '  a: { kind: video, with: { prompt: go } }\n  b: { kind: video, with: { prompt: go, duration: 5 } }\n';
    expect(find(two, [job('j', 'go')])).toEqual({ adopted: [], open: ['a j exact', 'b j exact'] });
  });
});
