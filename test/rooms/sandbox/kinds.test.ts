import { describe, expect, test } from 'vitest';
import { dataOf, goodBodies, idOf, type KindName, kindNames, openRig } from './rig.ts';

const good = goodBodies;

describe('a job is accepted', () => {
  test.each<[KindName, string, object, string, number]>([
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
    const { status, body } = await rig.create(kind, { ...good[kind], ...fields });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      generation: { id: expect.stringMatching(/^\w{16,}$/), status: 'QUEUED', model },
      ...(kind === 'influencer' && { model }),
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
    expect(body).toEqual({
      success: true,
      data: {
        id: expect.any(String),
        userId: 'sandbox-user',
        title: 'How lamps are made',
        ...more,
        jobId: rig.sandbox.ledger()[0]?.id,
        status: 'QUEUED',
        error: null,
        createdAt: now,
        updatedAt: now,
      },
      creditsDeducted: 3,
      creditsRemaining: 997,
    });
    expect(dataOf(body).id).not.toBe(dataOf(body).jobId);
  });
});

describe('a job is refused', () => {
  // What each field may be is held against the document, for bodies of any content, in openapi.test.ts.
  test.each<[KindName, string, object, string]>([
    ['video', 'too long', { duration: 13 }, 'duration must be from 1 to 12; got 13'],
    ['video', 'a private first frame', { image: 'https://10.0.0.1/a.png' }, 'image must be a public https URL'],
    ['voiceover', 'a long text', { text: 'x'.repeat(5001) }, 'text has 5001 characters'],
    ['clipping', 'a file that this sandbox does not have', { videoUrl: foreignFile() }, 'must be a public https URL'],
    ['thumbnail', 'a description that is no text', { description: 7 }, 'description must be a string'],
    ['influencer', 'too many references', { referenceImages: Array(9).fill('https://a.example/b') }, 'at most 8'],
    ['music', 'no lyrics', { model: 'song-o2', lyrics: ' ' }, 'lyrics are required for the model song-o2'],
  ])('%s: %s', async (kind, _name, fields, message) => {
    const rig = openRig();
    const { status, body } = await rig.create(kind, { ...good[kind], ...fields });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'validation_error', message: expect.stringContaining(message) });
    expect(rig.sandbox.ledger()).toEqual([]);
  });

  test.each(kindNames)('%s: when the balance is too small', async (kind) => {
    const rig = openRig({ credits: 0 });
    const { status, body } = await rig.create(kind, good[kind]);
    expect([status, body.code]).toEqual([402, 'insufficient_credits']);
    expect(rig.sandbox.ledger()).toEqual([]);
  });

  test.each(kindNames)('%s: when there are too many', async (kind) => {
    const rig = openRig({ rateLimit: { creates: 1, perMs: 1_000 } });
    expect((await rig.create(kind, good[kind])).status).toBe(200);
    expect((await rig.create(kind, good[kind])).status).toBe(429);
  });
});

describe('the life of a job', () => {
  test.each<[KindName, number, number]>([
    ['image', 2_000, 5_000],
    ['music', 5_000, 9_000],
    ['influencer', 5_000, 10_000],
    ['thumbnail', 4_000, 8_000],
    ['voiceover', 15_000, 25_000],
    ['video', 30_000, 60_000],
    ['clipping', 45_000, 90_000],
  ])('%s: queued, processing, completed', async (kind, least, most) => {
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

  test.each<[KindName, object]>([
    ['image', { kind: 'BASIC', outputUrl: expect.stringMatching(/\/image\.png$/) }],
    ['influencer', { kind: 'INFLUENCER', outputUrl: expect.stringMatching(/\/influencer\.webp$/) }],
    ['thumbnail', { kind: 'THUMBNAIL', outputUrl: expect.stringMatching(/\/thumbnail\.jpg$/) }],
    ['voiceover', { voiceId: 'Alice', outputUrl: expect.stringMatching(/\/voiceover\.mp3$/) }],
    [
      'video',
      {
        model: 'motion-2',
        outputUrl: expect.stringMatching(/\/video\.webm$/),
        thumbnailUrl: expect.stringMatching(/\/poster\.webp$/),
      },
    ],
  ])('%s: what the status of a completed one shows', async (kind, fields) => {
    const rig = openRig({ speed: Number.POSITIVE_INFINITY });
    const id = idOf(await rig.create(kind, good[kind]));
    const now = new Date(rig.clock.now).toISOString();
    const times = { createdAt: now, updatedAt: now, completedAt: now };
    expect(await rig.status(kind, id)).toEqual({ id, status: 'COMPLETED', error: null, ...times, ...fields });
  });

  test.each(kindNames)('%s: failRate', async (kind) => {
    const rig = openRig({ speed: Number.POSITIVE_INFINITY, failRate: 1 });
    const id = idOf(await rig.create(kind, good[kind]));
    expect(await rig.status(kind, id)).toMatchObject({ status: 'FAILED', error: expect.any(String) });
  });
});

describe('Idempotency-Key', () => {
  test.each(kindNames)('%s: counts for images and songs only', async (kind) => {
    const rig = openRig();
    const first = idOf(await rig.create(kind, good[kind], { key: 'k' }));
    const second = idOf(await rig.create(kind, good[kind], { key: 'k' }));
    const counts = kind === 'image' || kind === 'music';
    expect(second === first).toBe(counts);
    expect(rig.sandbox.ledger().map(({ key }) => key)).toEqual(counts ? ['k'] : [null, null]);
  });
});

function foreignFile(): string {
  return `http://sandbox.test/files/${'0'.repeat(40)}/video.webm`;
}
