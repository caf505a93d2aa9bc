import { afterAll, beforeAll, expect, test } from 'vitest';
import { bodyFor, openRig, type Rig, textAt } from './rig.ts';

// That nothing was found proves something only when what is wrong would have been found.

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

test.each<[string, string, Parameters<Rig['call']>[1], RegExp]>([
  ['a field that is missing', 'createImage', { body: {} }, /required/],
  ['a value that is none', 'createImage', { body: { prompt: 'x', model: 'alpha-3' } }, /model/],
  ['a field that another one requires', 'createMusic', { body: { prompt: 'x' } }, /lyrics/],
  [
    'two sources of an upload',
    'importUpload',
    { body: { url: 'https://a.example', base64: 'aGk=', fileName: 'a' } },
    /body/,
  ],
  ['a page that is too large', 'listVideos', { parameters: { limit: '101' } }, /limit/],
  [
    'a key that is too long',
    'createImage',
    { body: { prompt: 'x' }, headers: { 'idempotency-key': 'k'.repeat(129) } },
    /Key/,
  ],
  ['a credential that is missing', 'listAccounts', { token: '' }, /credential/],
])('in a request: %s', async (_what, operation, options, words) => {
  const before = rig.sandbox.requests().length;
  expect((await rig.call(operation, options)).violations.join()).toMatch(words);
  expect(rig.sandbox.requests()).toHaveLength(before);
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
])('in an answer about a job: %s', async (_what, create, status, data, words) => {
  const id = textAt(await rig.expect(create, 200, bodyFor(create)), 'generation.id');
  rig.sandbox.addFaults([{ on: 'status', do: { type: 'answer', body: { success: true, data: data as never } } }]);
  expect((await rig.call(status, { parameters: { id } })).violations.join()).toMatch(words);
});

test('a number as text, an error body that is not the documented one, and a status that is not documented', async () => {
  const created = { generation: { id: 'x', status: 'QUEUED' }, model: 'm', creditsDeducted: '3', creditsRemaining: 1 };
  rig.sandbox.addFaults([{ on: 'create', do: { type: 'answer', body: { success: true, ...created } } }]);
  expect((await rig.call('createImage', bodyFor('createImage'))).violations.join()).toMatch(/creditsDeducted/);
  rig.sandbox.addFaults([{ on: 'list', times: 1, do: { type: 'status', status: 503, body: { oops: true } } }]);
  expect((await rig.call('listAccounts')).violations.join()).toMatch(/success/);
  rig.sandbox.addFaults([{ on: 'create', do: { type: 'status', status: 418 } }]);
  expect((await rig.call('createImage', bodyFor('createImage'))).violations.join()).toMatch(/not documented/);
});
