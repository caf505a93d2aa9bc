import { describe, expect, test } from 'vitest';
import { apiKey, dataOf, goodBodies, jwt, openRig, type Rig } from './rig.ts';

type Item = Record<string, unknown>;

async function accountIds(rig: Rig): Promise<string[]> {
  const { body } = await rig.call('GET', '/api/v1/accounts');
  return (body.data as Item[]).map(({ id }) => String(id));
}

const post = (rig: Rig, body: unknown, more: object = {}) => rig.call('POST', '/api/v1/posts', { body, ...more });

test('three accounts, the same every time, with pictures of their own', async () => {
  const rig = openRig();
  const { body } = await rig.call('GET', '/api/v1/accounts');
  const accounts = body.data as Item[];
  expect(accounts.map(({ provider }) => provider)).toEqual(['instagram', 'tiktok', 'google']);
  expect(await accountIds(openRig())).toEqual(accounts.map(({ id }) => id));
  for (const { expiresAt, profilePicture } of accounts) {
    expect(Date.parse(String(expiresAt))).toBeGreaterThan(rig.clock.now);
    expect((await rig.createImage({ prompt: 'x', referenceImages: [profilePicture] })).status).toBe(200);
  }
});

describe('the catalog', () => {
  test('tells the price that a request with nothing but defaults has', async () => {
    const rig = openRig({ credits: 1_000_000 });
    const { body } = await rig.call('GET', '/api/v1/catalog');
    for (const { key, kind, credits, per } of body.data as Item[]) {
      const name = kind as keyof typeof goodBodies;
      const hasModel = name !== 'thumbnail' && name !== 'clipping';
      const { resolution: _resolution, ...fields } = goodBodies[name];
      const lyrics = name === 'music' ? { lyrics: 'la' } : {};
      const answer = await rig.create(name, { ...fields, ...lyrics, ...(hasModel ? { model: key } : {}) });
      const units = per === 'second' ? 5 : 1;
      expect([key, answer.body.creditsDeducted]).toEqual([key, Number(credits) * units]);
    }
  });
});

describe('a post', () => {
  test('is published at once, or scheduled; it costs nothing and is in the ledger', async () => {
    const rig = openRig({ credits: 5 });
    const accounts = await accountIds(rig);
    const createdAt = new Date(rig.clock.now).toISOString();
    const first = await post(rig, { accountIds: accounts });
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      success: true,
      data: {
        id: rig.sandbox.ledger()[0]?.id,
        status: 'PUBLISHED',
        accountIds: accounts,
        caption: null,
        media: [],
        scheduledAt: null,
        createdAt,
      },
    });
    const scheduledAt = '2030-01-01T09:00:00+02:00';
    const media = ['https://cdn.example.com/a.mp4'];
    const second = await post(rig, { accountIds: accounts.slice(0, 1), caption: 'Hello', media, scheduledAt });
    expect(dataOf(second.body)).toMatchObject({ status: 'SCHEDULED', caption: 'Hello', media, scheduledAt });
    expect(rig.sandbox.ledger()).toMatchObject([
      { kind: 'post', credits: 0, balance: 5, key: null },
      { kind: 'post', credits: 0, balance: 5, body: { caption: 'Hello' } },
    ]);
    expect(rig.sandbox.balance()).toBe(5);
    rig.clock.now = Date.parse(scheduledAt);
    const state = await rig.sandbox.fetch(new Request('http://localhost/sandbox/state'));
    expect(await state.json()).toMatchObject({ posts: [{ status: 'PUBLISHED', caption: 'Hello' }, {}] });
  });

  test('no Idempotency-Key counts, the rate limit does', async () => {
    const rig = openRig({ rateLimit: { creates: 2, perMs: 1_000 } });
    const accounts = await accountIds(rig);
    const ids = [];
    for (let time = 0; time < 2; time += 1) {
      ids.push(dataOf((await post(rig, { accountIds: accounts }, { key: 'k' })).body).id);
    }
    expect(new Set(ids).size).toBe(2);
    expect((await post(rig, { accountIds: accounts })).status).toBe(429);
  });

  test.each<[string, object, string]>([
    ['no accounts', { accountIds: undefined }, 'accountIds is required'],
    ['an empty list of accounts', { accountIds: [] }, 'at least 1'],
    ['an unknown account', { accountIds: ['acc_other'] }, 'accountIds[0] is not the id of a connected account'],
    ['one account that is no list', { accountIds: 'acc' }, 'accountIds must be an array'],
    ['a caption that is no text', { caption: 7 }, 'caption must be a string'],
    ['media that are not public', { media: ['https://cdn.example.com/a', 'http://10.0.0.1/a'] }, 'media[1] must be'],
    ['no time', { scheduledAt: 'tomorrow' }, 'scheduledAt must be a time'],
    ['a time without a zone', { scheduledAt: '2030-01-01T09:00:00' }, 'scheduledAt must be a time'],
  ])('%s: refused', async (_name, fields, message) => {
    const rig = openRig();
    const { status, body } = await post(rig, { accountIds: await accountIds(rig), ...fields });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'validation_error', message: expect.stringContaining(message) });
    expect(rig.sandbox.ledger()).toEqual([]);
  });
});

describe('what the page shows', () => {
  const ask = (rig: Rig, path: string, headers: Record<string, string> = {}) =>
    rig.sandbox.fetch(new Request(`http://127.0.0.1:4010${path}`, { headers }));

  test('jobs, uploads and posts of everybody, newest first, without a key', async () => {
    const rig = openRig({ credits: 500 });
    await rig.imageId({ prompt: 'x'.repeat(200) });
    rig.clock.now += 5_000;
    const body = { base64: 'AAAA', fileName: 'a.png' };
    await rig.call('POST', '/api/v1/uploads', { body });
    await rig.create('clipping', goodBodies.clipping, { token: jwt({ sub: 'other' }) });
    await post(rig, { accountIds: await accountIds(rig), caption: '<b>' });
    const answer = await ask(rig, '/sandbox/state');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      success: true,
      baseUrl: 'http://127.0.0.1:4010/api/v1',
      balance: 497,
      startingCredits: 500,
      speed: 1,
      now: new Date(rig.clock.now).toISOString(),
      jobs: [
        expect.objectContaining({
          kind: 'clipping',
          status: 'QUEUED',
          prompt: goodBodies.clipping.videoUrl,
          outputs: [],
        }),
        {
          id: rig.sandbox.ledger()[0]?.id,
          kind: 'image',
          status: 'COMPLETED',
          credits: 3,
          createdAt: new Date(rig.clock.now - 5_000).toISOString(),
          model: 'alpha-2',
          prompt: 'x'.repeat(120),
          outputs: [
            {
              name: 'image.png',
              url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:4010\/files\//),
              mediaType: 'image/png',
            },
          ],
          error: null,
        },
      ],
      uploads: [expect.objectContaining({ name: 'a.png', type: 'IMAGE', fileSize: 3 })],
      posts: [expect.objectContaining({ status: 'PUBLISHED', caption: '<b>' })],
    });
  });

  test('a page that needs nothing from elsewhere', async () => {
    const answer = await ask(openRig(), '/');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await answer.text()).toContain('<');
  });

  test.each(['localhost:4010', '127.0.0.1', '127.9.9.9:80', '[::1]:4010'])('%s is this machine', async (host) => {
    expect((await ask(openRig(), '/sandbox/state', { host })).status).toBe(200);
  });

  test.each(['evil.example', '127.0.0.1.evil.example', '10.0.0.1:4010', 'localhost.evil.example', 'sandbox'])(
    '%s is a foreign name: refused, key or not',
    async (host) => {
      for (const path of ['/', '/sandbox/state']) {
        const answer = await ask(openRig(), path, { host, authorization: `Bearer ${apiKey}` });
        expect(answer.status).toBe(403);
      }
    },
  );
});
