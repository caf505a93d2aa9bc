import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { findMissing } from '../../../src/sandbox/render/find-missing.ts';
import { makeFolder } from '../../rig/folder.ts';
import { apiKey, idOf, jsonHeaders, jwt, openRig } from './rig.ts';

describe('over a socket', () => {
  async function listen(options: SandboxOptions) {
    const sandbox = createSandbox({ speed: Number.POSITIVE_INFINITY, ...options });
    onTestFinished(() => sandbox.close());
    return { sandbox, listener: await sandbox.listen() };
  }

  /** The status of an answer, or what happened to the connection. */
  async function ask(url: string, options: { body?: object; key?: string; signal?: AbortSignal } = {}) {
    const { body, key, signal } = options;
    try {
      const response = await fetch(url, {
        headers: { ...jsonHeaders, ...(key !== undefined && { 'idempotency-key': key }) },
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
      await response.arrayBuffer();
      return { status: response.status };
    } catch (error) {
      return { error: ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? String(error) };
    }
  }

  const body = { prompt: 'a lamp', resolution: '1k' };

  test('a reset after booking: the money is gone, the same key brings the job', async () => {
    const dataDir = makeFolder();
    const { sandbox, listener } = await listen({
      files: { dataDir },
      faults: [{ on: 'create', do: { type: 'reset', booked: true } }],
    });
    const url = `${listener.url}/image-generations/create`;
    expect(await ask(url, { body, key: 'k' })).toEqual({ error: 'ECONNRESET' });
    const lines = readFileSync(join(dataDir, 'ledger.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(sandbox.ledger());
    expect(sandbox.ledger()).toMatchObject([{ key: 'k', credits: 2, balance: 998 }]);
    const again = await ask(url, { body, key: 'k' });
    expect(again).toEqual({ status: 200 });
    expect(sandbox.ledger()).toHaveLength(1);
  });

  test('a hang: the ledger is booked while nothing is answered; the key is free when the caller has gone', async () => {
    const { sandbox, listener } = await listen({
      faults: [
        { on: 'create', match: 'booked', do: { type: 'hang', booked: true } },
        { on: 'create', match: 'lost', do: { type: 'hang' } },
      ],
    });
    const url = `${listener.url}/image-generations/create`;
    const caller = new AbortController();
    const booked = ask(url, { body: { prompt: 'booked' }, key: 'a', signal: caller.signal });
    const lost = ask(url, { body: { prompt: 'lost' }, key: 'b', signal: caller.signal });
    await expect.poll(() => sandbox.requests().length).toBe(2);
    expect(sandbox.ledger()).toMatchObject([{ key: 'a' }]);
    expect(await ask(url, { body: { prompt: 'booked' }, key: 'a' })).toMatchObject({ status: 200 });
    expect(await ask(url, { body: { prompt: 'lost' }, key: 'b' })).toMatchObject({ status: 409 });
    caller.abort();
    await Promise.all([booked, lost]);
    await expect.poll(() => ask(url, { body: { prompt: 'lost' }, key: 'b' })).toEqual({ status: 200 });
    expect(sandbox.ledger().map(({ key }) => key)).toEqual(['a', 'b']);
    expect(sandbox.requests().filter(({ status }) => status === 0)).toHaveLength(2);
  });

  test('closing ends connections that hang', async () => {
    const { sandbox, listener } = await listen({ faults: [{ on: 'status', do: { type: 'hang' } }] });
    const hanging = ask(`${listener.url}/image/status/x`);
    await expect.poll(() => sandbox.requests().length).toBe(1);
    await listener.close();
    expect(await hanging).toHaveProperty('error');
  });
});

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
      const refusal = { success: false, error: 'Unauthorized', code: 'unauthorized' };
      expect(body).toEqual({ ...refusal, message: expect.any(String) });
    }
    expect(rig.sandbox.ledger()).toEqual([]);
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
});

test('names the native package of sharp that is not installed, and says nothing where sharp works', async () => {
  const nowhere = createRequire('/nowhere/index.js');
  expect(await findMissing()).toBeUndefined();
  expect(await findMissing(nowhere)).toBeUndefined();
  const missing = await findMissing(nowhere, () => Promise.reject(new Error('Could not load the "sharp" module')));
  expect(missing).toMatch(/@img\/sharp-\S+, which is not installed; run npm install/);
});
