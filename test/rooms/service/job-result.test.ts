import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { classifyCreate } from '../../../src/service/create.ts';
import { readResult } from '../../../src/service/fields.ts';

function resultOf(kind: string, data: { [key: string]: Json }) {
  const found = kinds[kind];
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return readResult(found, data);
}

describe('what a finished job gives', () => {
  test.each<[string, { [key: string]: Json }, unknown]>([
    ['image', { outputUrl: 'https://a/1' }, { values: { url: 'https://a/1' }, files: ['https://a/1'] }],
    ['image', { outputUrl: '' }, undefined],
    ['image', {}, undefined],
    ['voiceover', { outputAsset: { url: 'https://a/2' } }, { values: { url: 'https://a/2' }, files: ['https://a/2'] }],
    [
      'video',
      { outputUrl: 'https://a/v', thumbnailUrl: 'https://a/t' },
      { values: { url: 'https://a/v', thumbnailUrl: 'https://a/t' }, files: ['https://a/v'] },
    ],
    ['video', { thumbnailUrl: 'https://a/t' }, undefined],
    ['clipping', { clips: [] }, undefined],
    ['clipping', { clips: 'x' }, undefined],
    ['clipping', { clips: [{ id: 'a', order: 0 }] }, undefined],
  ])('%s from %j', (kind, data, wanted) => {
    expect(resultOf(kind, data)).toEqual(wanted);
  });

  test('clips are taken in their own order, whatever the order of the answer', () => {
    const clip = (id: string, order: number) => ({ id, order, outputAsset: { url: `https://a/${id}` } });
    expect(resultOf('clipping', { clips: [clip('c', 2), clip('a', 0), clip('b', 1)] })).toEqual({
      values: {
        url: 'https://a/a',
        'clips.0.url': 'https://a/a',
        'clips.0.id': 'a',
        'clips.1.url': 'https://a/b',
        'clips.1.id': 'b',
        'clips.2.url': 'https://a/c',
        'clips.2.id': 'c',
      },
      files: ['https://a/a', 'https://a/b', 'https://a/c'],
      parts: 3,
    });
  });

  test('a hostile list is cut', () => {
    const clips = Array.from({ length: 5000 }, (_, order) => ({ order, outputAsset: { url: 'https://a/x' } }));
    expect(resultOf('clipping', { clips })?.parts).toBe(1000);
  });
});

describe('where the job stands in the answer to a create', () => {
  const answer = (kind: string, json: Json) =>
    classifyCreate(
      { is: 'answer', status: 200, headers: {}, json },
      (text) => text,
      kinds[kind] === undefined ? {} : { kind: kinds[kind] },
    );
  const job = (jobId: string, more = {}) => ({ is: 'accepted', job: { jobId, credits: 3, balance: 9, ...more } });
  const money = { success: true, creditsDeducted: 3, creditsRemaining: 9 };

  test.each<[string, { [key: string]: Json }, unknown]>([
    ['video', { ...money, generation: { id: 'v1' } }, job('v1')],
    ['video', { ...money, data: { id: 'v2' } }, job('v2')],
    ['video', { ...money, id: 'v3' }, job('v3')],
    ['clipping', { ...money, data: { id: 'c1', status: 'QUEUED' } }, job('c1')],
    ['thumbnail', { ...money, data: { id: 'rec', jobId: 'j1' } }, job('j1', { recordId: 'rec' })],
    ['thumbnail', { ...money, data: { id: 'j1', jobId: 'j1' } }, job('j1')],
    ['post', { ...money, data: { id: 'p1' } }, job('p1')],
  ])('%s: %j', (kind, json, wanted) => {
    expect(answer(kind, json)).toEqual(wanted);
  });

  test.each<[string, Json]>([
    // Documented: nowhere else than in `generation`.
    ['image', { ...money, data: { id: 'x' } }],
    ['image', { ...money, id: 'x' }],
    ['video', { ...money }],
    ['video', { ...money, data: { id: '' } }],
    ['video', { ...money, data: { id: '../../x y' } }],
    ['video', [1, 2]],
  ])('%s without a usable id may have been charged: %j', (kind, json) => {
    expect(answer(kind, json)).toMatchObject({ is: 'ambiguous' });
  });
});
