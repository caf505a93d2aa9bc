import { describe, expect, test } from 'vitest';
import { apiKey, idOf, jwt, openRig } from './rig.ts';

describe('who may call', () => {
  test.each([
    ['no header', ''],
    ['another key of the right form', 'sandbox_live_other'],
    ['a key of another form', 'hello'],
    ['two parts', 'a.b'],
    ['three parts that are no JSON', 'YQ.YQ.YQ'],
    ['an expired token', jwt({ sub: 'a', exp: 1_000 })],
  ])('%s: 401', async (_name, token) => {
    const rig = openRig();
    const answers = [
      await rig.createImage({ prompt: 'x' }, { token }),
      await rig.call('GET', '/api/v1/image/status/any', { token }),
      await rig.call('DELETE', '/api/v1/music-generations/any', { token }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(401);
      expect(body).toEqual({
        success: false,
        error: 'Unauthorized',
        code: 'unauthorized',
        message: expect.any(String),
      });
    }
    expect(rig.sandbox.ledger()).toEqual([]);
  });

  test('the key that was configured is the one that is accepted', async () => {
    const rig = openRig({ apiKey: 'mine_live_123' });
    expect((await rig.createImage({ prompt: 'x' }, { token: 'mine_live_123' })).status).toBe(200);
    expect((await rig.createImage({ prompt: 'x' }, { token: apiKey })).status).toBe(401);
  });

  test('a token of another subject is another account and sees only its own jobs', async () => {
    const rig = openRig({ credits: 3 });
    const own = idOf(await rig.createImage({ prompt: 'x' }));
    const other = idOf(await rig.createImage({ prompt: 'x' }, { token: jwt({ sub: 'somebody' }) }));
    const status = async (id: string, token: string) =>
      (await rig.call('GET', `/api/v1/image/status/${id}`, { token })).status;
    expect(await status(own, apiKey)).toBe(200);
    expect(await status(other, apiKey)).toBe(404);
    expect(await status(own, jwt({ sub: 'somebody' }))).toBe(404);
    expect(await status(other, jwt({ sub: 'somebody' }))).toBe(200);
    expect(rig.sandbox.balance()).toBe(0);
  });

  test.each([
    ['POST', '/api/v1/image-generations/create', { prompt: 'x' }],
    ['POST', '/api/v1/music-generations/create', { prompt: 'x', lyrics: 'y' }],
    ['GET', '/api/v1/videos/all', undefined],
    ['GET', '/api/v1/video/status/x', undefined],
    ['GET', '/api/v1/clippings/status/x', undefined],
  ])('%s %s: a token of nobody is 404, and nothing is booked', async (method, path, body) => {
    const rig = openRig();
    const token = jwt({ sub: 'unknown-user' });
    const answer = await rig.call(method, path, { token, ...(body && { body }) });
    expect([answer.status, answer.body.code]).toEqual([404, 'user_not_found']);
    expect(rig.sandbox.ledger()).toEqual([]);
  });

  test('a token without a subject is the user of the API key', async () => {
    const rig = openRig();
    const id = idOf(await rig.createImage({ prompt: 'x' }, { token: jwt({}) }));
    expect((await rig.call('GET', `/api/v1/image/status/${id}`)).status).toBe(200);
  });
});

describe('paths and methods', () => {
  test.each([
    ['GET', '/api/v1/nothing', 404, 'not_found'],
    ['GET', '/', 403, 'not_local'],
    ['GET', '/nothing', 404, 'not_found'],
    ['GET', '/api/v1/video/status/', 400, 'missing_id'],
    ['PUT', '/api/v1/uploads', 405, 'method_not_allowed'],
    ['GET', '/api/v1/image/status/', 404, 'not_found'],
    ['GET', '/api/v1/image/status/%E0%A4', 400, 'invalid_path'],
    ['GET', '/api/v1/image-generations/create', 405, 'method_not_allowed'],
    ['POST', '/api/v1/image/status/x', 405, 'method_not_allowed'],
    ['DELETE', '/api/v1/image-generations/x', 404, 'not_found'],
  ])('%s %s: %i', async (method, path, status, code) => {
    const answer = await openRig().call(method, path, method === 'POST' || method === 'PUT' ? { body: {} } : {});
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ success: false, code });
  });
});
