import { describe, expect, test } from 'vitest';
import { goodBodies, idOf, jsonHeaders, jwt, openRig, type Rig } from './rig.ts';

describe('the body', () => {
  const path = '/api/v1/image-generations/create';
  test.each([
    ['is no JSON', '{"prompt":', {}, 400, 'invalid_json'],
    ['is a list', '[]', {}, 400, 'validation_error'],
    ['is null', 'null', {}, 400, 'validation_error'],
    ['is announced as text', '{"prompt":"x"}', { 'content-type': 'text/plain' }, 400, 'invalid_content_type'],
    ['is too large', `{"prompt":"${'x'.repeat(10 * 1024 * 1024)}"}`, {}, 413, 'body_too_large'],
  ])('%s', async (_name, body, headers, status, code) => {
    const answer = await openRig().call('POST', path, { body, headers });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ success: false, code });
  });
});

test('too many creates: 429 until the window has passed', async () => {
  const rig = openRig();
  rig.sandbox.limitCreates({ creates: 2, perMs: 10_000 });
  const create = async () => (await rig.createImage({ prompt: 'x' })).status;
  expect([await create(), await create()]).toEqual([200, 200]);
  rig.clock.now += 6_500;
  const refused = await rig.createImage({ prompt: 'x' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '4']);
  rig.clock.now += 3_500;
  expect([await create(), await create(), await create()]).toEqual([200, 200, 429]);
  expect(rig.sandbox.ledger()).toHaveLength(4);
});

const hourMs = 60 * 60 * 1000;
const body = { prompt: 'a lamp' };

describe('Idempotency-Key', () => {
  test('the same key gives the very same answer and no second job for 24 hours, and then a new job', async () => {
    const rig = openRig();
    const first = await rig.createImage(body, { key: 'k' });
    await rig.createImage({ prompt: 'between' });
    rig.clock.now += 24 * hourMs - 1;
    const second = await rig.createImage(body, { key: 'k' });
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(rig.sandbox.ledger()).toHaveLength(2);
    rig.clock.now += 1;
    const third = idOf(await rig.createImage(body, { key: 'k' }));
    expect(third).not.toBe(idOf(first));
    expect(idOf(await rig.createImage(body, { key: 'k' }))).toBe(third);
    expect(rig.sandbox.ledger()).toHaveLength(3);
  });

  test('the order of the fields does not matter, the fields do', async () => {
    const rig = openRig();
    await rig.createImage({ prompt: 'a', resolution: '1k' }, { key: 'k' });
    expect((await rig.createImage({ resolution: '1k', prompt: 'a' }, { key: 'k' })).status).toBe(200);
    for (const other of [{ prompt: 'a', resolution: '2k' }, { prompt: 'a' }, {}]) {
      const answer = await rig.createImage(other, { key: 'k' });
      expect([answer.status, answer.body.code]).toEqual([409, 'idempotency_key_reused']);
    }
    expect(rig.sandbox.ledger()).toHaveLength(1);
  });

  test('only accepted creates are kept', async () => {
    const rig = openRig({ credits: 3 });
    rig.sandbox.limitCreates({ creates: 3, perMs: 1_000 });
    expect((await rig.createImage({ prompt: '' }, { key: 'k' })).status).toBe(400);
    expect((await rig.createImage({ prompt: 'a', resolution: '4k' }, { key: 'k' })).status).toBe(402);
    expect((await rig.createImage(body, { key: 'k' })).status).toBe(200);
    expect((await rig.createImage(body, { key: 'k' })).status).toBe(429);
    rig.clock.now += 1_000;
    expect((await rig.createImage(body, { key: 'k' })).status).toBe(200);
    expect(rig.sandbox.ledger()).toHaveLength(1);
  });

  test('does not count with a JWT', async () => {
    const rig = openRig();
    for (let time = 0; time < 2; time += 1) await rig.createImage(body, { key: 'k', token: jwt({}) });
    await rig.createImage(body, { key: 'k' });
    expect(rig.sandbox.ledger().map(({ key }) => key)).toEqual([null, null, 'k']);
  });

  test.each([
    [128, 200],
    [129, 400],
  ])('%i characters: %i', async (length, status) => {
    const key = 'k'.repeat(length);
    expect((await openRig().createImage(body, { key })).status).toBe(status);
    expect((await openRig().createImage(body, { key, token: jwt({}) })).status).toBe(status);
  });

  test('409 while the first request is being handled, and only that long', async () => {
    const rig = openRig({ faults: [{ on: 'create', do: { type: 'hang' } }] });
    const caller = new AbortController();
    const request = (signal?: AbortSignal) =>
      new Request('http://sandbox.test/api/v1/image-generations/create', {
        method: 'POST',
        headers: { ...jsonHeaders, 'idempotency-key': 'k' },
        body: JSON.stringify(body),
        ...(signal ? { signal } : {}),
      });
    // Held to the end: a request that is collected no longer hears of its caller's signal.
    const held = request(caller.signal);
    const first = rig.sandbox.fetch(held);
    await expect.poll(() => rig.sandbox.requests().length).toBe(1);
    const second = await rig.createImage(body, { key: 'k' });
    expect([second.status, second.body.code]).toEqual([409, 'idempotency_key_in_progress']);
    expect((await rig.createImage(body, { key: 'other' })).status).toBe(200);

    caller.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    expect(held.signal.aborted).toBe(true);
    expect((await rig.createImage(body, { key: 'k' })).status).toBe(200);
  });
});

type Item = Record<string, unknown>;

async function listOf(rig: Rig, path: string, token?: string): Promise<Item[]> {
  const { body } = await rig.call('GET', `/api/v1/${path}`, token === undefined ? {} : { token });
  return (body.generations ?? body.data ?? body.voices) as Item[];
}

const infinite = { speed: Number.POSITIVE_INFINITY, credits: 10_000 };

describe('pages', () => {
  const many = async () => {
    const rig = openRig(infinite);
    for (let index = 1; index <= 25; index += 1) {
      const model = index % 5 === 0 ? 'motion-2-fast' : 'motion-2';
      await rig.create('video', { prompt: `film ${index}`, model, duration: 1 });
      await rig.create('voiceover', { ...goodBodies.voiceover, text: `line ${index}` });
    }
    return rig;
  };

  test.each([
    ['', { currentPage: 1, totalPages: 3, limit: 12, hasNextPage: true, hasPreviousPage: false }, 25, 12],
    ['?page=2', { currentPage: 2, totalPages: 3, limit: 12, hasNextPage: true, hasPreviousPage: true }, 13, 12],
    ['?page=3', { currentPage: 3, totalPages: 3, limit: 12, hasNextPage: false, hasPreviousPage: true }, 1, 1],
    ['?page=9', { currentPage: 9, totalPages: 3, limit: 12, hasNextPage: false, hasPreviousPage: true }, 0, 0],
    ['?limit=100', { currentPage: 1, totalPages: 1, limit: 100, hasNextPage: false, hasPreviousPage: false }, 25, 25],
    ['?limit=101', { limit: 100 }, 25, 25],
    ['?limit=1&page=25', { currentPage: 25, totalPages: 25, limit: 1, hasNextPage: false }, 1, 1],
    ['?limit=0', { limit: 1, totalPages: 25 }, 25, 1],
    ['?limit=-3&page=-1', { limit: 1, currentPage: 1 }, 25, 1],
    ['?limit=ten&page=1e3', { limit: 12, currentPage: 1 }, 25, 12],
  ])('%s', async (query, pagination, newest, count) => {
    const rig = await many();
    for (const [path, word, field] of [
      ['videos/all', 'film', 'prompt'],
      ['voiceovers/all', 'line', 'text'],
    ] as const) {
      const { body } = await rig.call('GET', `/api/v1/${path}${query}`);
      expect(body.pagination).toMatchObject({ totalCount: 25, ...pagination });
      const items = body.generations as Item[];
      const expected = Array.from({ length: count }, (_, index) => `${word} ${newest - index}`);
      expect(items.map((item) => item[field])).toEqual(expected);
    }
  });
});

test('a thumbnail is deleted by the id of its record, not by that of its job; its image goes too', async () => {
  const rig = openRig(infinite);
  const jobId = await rig.jobId('thumbnail', goodBodies.thumbnail);
  const url = await rig.outputUrl('thumbnail', jobId);
  const id = String((await listOf(rig, 'thumbnails'))[0]?.id);
  expect((await rig.call('DELETE', `/api/v1/thumbnails/${jobId}`)).status).toBe(404);
  expect((await rig.call('DELETE', `/api/v1/thumbnails/${id}`, { token: jwt({ sub: 'other' }) })).status).toBe(404);
  const { status, body } = await rig.call('DELETE', `/api/v1/thumbnails/${id}`);
  expect([status, body]).toEqual([200, { success: true, message: expect.any(String) }]);
  expect(await listOf(rig, 'thumbnails')).toEqual([]);
  expect((await rig.call('GET', `/api/v1/image/status/${jobId}`)).status).toBe(404);
  expect((await rig.sandbox.fetch(new Request(url))).status).toBe(404);
  expect((await rig.call('DELETE', `/api/v1/thumbnails/${id}`)).status).toBe(404);
  expect(rig.sandbox.balance()).toBe(10_000 - 3);
});
