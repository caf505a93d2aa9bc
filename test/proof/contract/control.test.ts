import { afterAll, beforeAll, expect, test } from 'vitest';
import { bodyFor, openRig, type Rig, textAt } from './rig.ts';

// That nothing was found proves something only when what is wrong would have been found.

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

async function seesRequest(operation: string, options: Parameters<Rig['call']>[1], words: RegExp): Promise<void> {
  const before = rig.sandbox.requests().length;
  const { violations } = await rig.call(operation, options);
  expect(violations.join()).toMatch(words);
  expect(rig.sandbox.requests()).toHaveLength(before);
}

test.each<[string, string, object, RegExp]>([
  ['a field that is missing', 'createImage', {}, /required/],
  [
    'a ratio that the model does not have',
    'createImage',
    { prompt: 'x', model: 'alpha-pro', aspectRatio: '8:1' },
    /ratio/i,
  ],
  ['a model that is none', 'createImage', { prompt: 'x', model: 'alpha-3' }, /model/],
  ['lyrics that are missing', 'createMusic', { prompt: 'x' }, /lyrics/],
  ['lyrics that are too long', 'createMusic', { prompt: 'x', lyrics: 'x'.repeat(3001) }, /lyrics/],
  [
    'two sources of an upload',
    'importUpload',
    { url: 'https://a.example', base64: 'aGk=', fileName: 'a' },
    /INVALID|UNPROCESS/i,
  ],
  ['a base64 without a name', 'importUpload', { base64: 'aGk=' }, /fileName|UNPROCESS/i],
])('in a request: %s', async (_what, operation, body, words) => seesRequest(operation, { body }, words));

test('in a request: a page that is too large', () =>
  seesRequest('listVideos', { parameters: { limit: '101' } }, /limit/));

test('in a request: a key that is too long', () =>
  seesRequest(
    'createImage',
    { body: { prompt: 'x' }, headers: { 'idempotency-key': 'k'.repeat(129) } },
    /idempotency/i,
  ));

test('in a request: a credential that is missing', () => seesRequest('listAccounts', { token: '' }, /UNAUTHORIZED/));

test.each<[string, string, object, RegExp]>([
  [
    'a number as text',
    'createImage',
    { success: true, generation: { id: 'x', status: 'QUEUED' }, model: 'm', creditsDeducted: '3', creditsRemaining: 1 },
    /creditsDeducted/,
  ],
  [
    'a job without an id',
    'createMusic',
    { success: true, generation: { status: 'QUEUED' }, creditsDeducted: 4, creditsRemaining: 1 },
    /required property 'id'/,
  ],
])('in an answer to a create: %s', async (_what, operation, body, words) => {
  rig.sandbox.addFaults([{ on: 'create', do: { type: 'answer', body: body as never } }]);
  const { violations } = await rig.call(operation, bodyFor(operation));
  expect(violations.join()).toMatch(/VIOLATIONS/);
  expect(violations.join()).toMatch(words);
});

test.each<[string, string, string, object, RegExp]>([
  ['a status that is none', 'createVideo', 'getVideoStatus', { id: 'x', status: 'DONE' }, /status/],
  ['a completed job without its link', 'createImage', 'getImageStatus', { id: 'x', status: 'COMPLETED' }, /outputUrl/],
  [
    'a failed job without a reason',
    'createMusic',
    'getMusicStatus',
    { id: 'x', status: 'FAILED', error: null },
    /error/,
  ],
  [
    'a time that is none',
    'createVoiceover',
    'getVoiceoverStatus',
    { id: 'x', status: 'QUEUED', createdAt: 'now' },
    /createdAt/,
  ],
])('in an answer about a job: %s', async (_what, create, status, data, words) => {
  const id = textAt(await rig.expect(create, 200, bodyFor(create)), 'generation.id');
  rig.sandbox.addFaults([{ on: 'status', do: { type: 'answer', body: { success: true, data: data as never } } }]);
  const { violations } = await rig.call(status, { parameters: { id } });
  expect(violations.join()).toMatch(/VIOLATIONS/);
  expect(violations.join()).toMatch(words);
});

test('an error body that is not the documented one, and a status that is not documented', async () => {
  rig.sandbox.addFaults([{ on: 'list', times: 1, do: { type: 'status', status: 503, body: { oops: true } } }]);
  expect((await rig.call('listAccounts')).violations.join()).toMatch(/success/);
  rig.sandbox.addFaults([{ on: 'create', do: { type: 'status', status: 418 } }]);
  expect((await rig.call('createImage', { body: { prompt: 'x' } })).violations.join()).toMatch(/status code/);
});
