import { describe, expect, test } from 'vitest';
import { dataOf, goodBodies, idOf, type KindName, openRig, type Rig } from './rig.ts';

const good = goodBodies;

describe('a job is accepted', () => {
  test.each<[KindName, string, object, string, number]>([
    ['image', 'defaults', {}, 'alpha-2', 3],
    ['image', '1k', { resolution: '1k' }, 'alpha-2', 2],
    ['image', '4k', { resolution: '4k' }, 'alpha-2', 5],
    ['image', 'an unknown resolution falls back', { resolution: '8k' }, 'alpha-2', 3],
    ['image', 'alpha-pro', { model: 'alpha-pro', aspectRatio: '21:9', resolution: '4k' }, 'alpha-pro', 9],
    ['image', 'auto', { aspectRatio: 'auto' }, 'alpha-2', 3],
    ['image', '1:8', { aspectRatio: '1:8' }, 'alpha-2', 3],
    ['image', 'alias with a tier', { model: 'beta-v5-lite', resolution: 'high' }, 'beta-5.0-pro', 3],
    ['image', 'target of an alias', { model: 'beta-5.0-pro', quality: 'basic' }, 'beta-5.0-pro', 3],
    ['image', 'alias with exact sizes', { model: 'gamma-image-1.5', resolution: '1536x1024' }, 'gamma-image-2', 3],
    ['image', 'gamma-image-2', { model: 'gamma-image-2', resolution: '4k', aspectRatio: '3:4' }, 'gamma-image-2', 7],
    ['image', 'unknown fields are ignored', { seed: 7, negativePrompt: null }, 'alpha-2', 3],
    ['video', 'defaults', {}, 'motion-2', 20],
    ['video', 'a second', { duration: 1 }, 'motion-2', 4],
    ['video', 'the longest', { duration: 12, ratio: '4:5' }, 'motion-2', 48],
    ['video', 'the fast model', { model: 'motion-2-fast', duration: 3 }, 'motion-2-fast', 6],
    ['video', 'with a first frame', { image: 'https://cdn.example.com/a.png' }, 'motion-2', 20],
    ['video', 'unknown fields are ignored', { seed: null }, 'motion-2', 20],
    ['voiceover', 'one credit for 250 characters', { text: 'x'.repeat(250) }, 'speech-2', 1],
    ['voiceover', 'started 250 count', { text: 'x'.repeat(251), output_format: 'flac' }, 'speech-2', 2],
    ['voiceover', 'characters, not code units', { text: '🎵'.repeat(250) }, 'speech-2', 1],
    ['voiceover', 'the longest', { text: 'x'.repeat(5000) }, 'speech-2', 20],
    ['voiceover', 'lite', { text: 'x'.repeat(501), model: 'speech-2-lite' }, 'speech-2-lite', 2],
    ['influencer', 'defaults', {}, 'persona-1', 8],
    ['influencer', 'all fields', { model: 'persona-1', aspectRatio: '9:16', referenceImages: [] }, 'persona-1', 8],
  ])('%s: %s', async (kind, _name, fields, model, credits) => {
    const rig = openRig();
    const given = kind === 'image' ? { prompt: 'a lamp' } : good[kind];
    const { status, body } = await rig.create(kind, { ...given, ...fields });
    expect(status).toBe(200);
    const ofImage = { mode: 'text-to-image', modelId: expect.any(String) };
    const generation = { id: expect.stringMatching(/^\w{16,}$/), status: 'QUEUED', model };
    expect(body).toEqual({
      success: true,
      generation: { ...generation, ...(kind === 'image' && ofImage) },
      ...(['image', 'influencer'].includes(kind) && { model }),
      creditsDeducted: credits,
      creditsRemaining: 1000 - credits,
    });
    expect(rig.sandbox.ledger()).toMatchObject([{ kind, credits, balance: 1000 - credits, key: null }]);
  });

  test('a thumbnail: its record, with the id of its job', async () => {
    const rig = openRig();
    const more = { description: 'A lamp', link: 'https://video.example.com/1', image: 'https://cdn.example.com/a.png' };
    const { body } = await rig.create('thumbnail', { ...good.thumbnail, ...more, ratio: '9:16' });
    const now = new Date(rig.clock.now).toISOString();
    const record = { id: expect.any(String), userId: 'sandbox-user', title: 'How lamps are made', ...more };
    const job = { jobId: rig.sandbox.ledger()[0]?.id, status: 'QUEUED', error: null };
    const data = { ...record, ...job, createdAt: now, updatedAt: now };
    expect(body).toEqual({ success: true, data, creditsDeducted: 3, creditsRemaining: 997 });
    expect(dataOf(body).id).not.toBe(dataOf(body).jobId);
  });
});

test.each<[KindName, number, number]>([
  ['image', 2_000, 5_000],
  ['music', 5_000, 9_000],
  ['influencer', 5_000, 10_000],
  ['thumbnail', 4_000, 8_000],
  ['voiceover', 15_000, 25_000],
  ['video', 30_000, 60_000],
  ['clipping', 45_000, 90_000],
])('the life of a job: %s: queued, processing, completed', async (kind, least, most) => {
  const rig = openRig();
  const id = idOf(await rig.create(kind, good[kind]));
  const start = rig.clock.now;
  const seen: unknown[] = [];
  let ended = 0;
  for (; rig.clock.now <= start + most; rig.clock.now += 500) {
    const { status } = await rig.status(kind, id);
    if (seen.at(-1) !== status) seen.push(status);
    if (status === 'COMPLETED' && ended === 0) ended = rig.clock.now;
  }
  expect(seen).toEqual(['QUEUED', 'PROCESSING', 'COMPLETED']);
  expect(ended - start).toBeGreaterThanOrEqual(least);
  expect(ended - start).toBeLessThanOrEqual(most);
});

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

describe('a post', () => {
  test('is published at once, or scheduled; it costs nothing and is in the ledger', async () => {
    const rig = openRig({ credits: 5 });
    const accounts = await accountIds(rig);
    const createdAt = new Date(rig.clock.now).toISOString();
    const first = await post(rig, { accountIds: accounts });
    expect(first.status).toBe(200);
    const published = { id: rig.sandbox.ledger()[0]?.id, status: 'PUBLISHED', accountIds: accounts };
    const data = { ...published, caption: null, media: [], scheduledAt: null, createdAt };
    expect(first.body).toEqual({ success: true, data });
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
