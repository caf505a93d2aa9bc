import { describe, expect, test } from 'vitest';
import { dataOf, goodBodies, idOf, jwt, openRig, type Rig } from './rig.ts';

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
      expect(items.map((item) => item[field])).toEqual(
        Array.from({ length: count }, (_, index) => `${word} ${newest - index}`),
      );
    }
  });

  test('of one model', async () => {
    const rig = await many();
    const { body } = await rig.call('GET', '/api/v1/videos/all?model=motion-2-fast&limit=3');
    expect((body.generations as Item[]).map(({ prompt }) => prompt)).toEqual(['film 25', 'film 20', 'film 15']);
    expect(body.pagination).toMatchObject({ totalCount: 5, totalPages: 2 });
    expect(await listOf(rig, 'videos/all?model=other')).toEqual([]);
  });
});

describe('lists', () => {
  test.each([
    ['video', 'videos/all'],
    ['voiceover', 'voiceovers/all'],
    ['thumbnail', 'thumbnails'],
    ['clipping', 'clippings/all'],
  ] as const)('%s: newest first, and only the caller’s', async (kind, path) => {
    const rig = openRig(infinite);
    const token = jwt({ sub: 'somebody' });
    const own = [await rig.jobId(kind, goodBodies[kind])];
    const other = idOf(await rig.create(kind, goodBodies[kind], { token }));
    for (const more of goodBodiesOfOthers) await rig.jobId(more, goodBodies[more]);
    own.push(await rig.jobId(kind, goodBodies[kind]));
    const ids = (items: Item[]) => items.map(({ id, jobId }) => jobId ?? id);
    expect(ids(await listOf(rig, path))).toEqual(own.reverse());
    expect(ids(await listOf(rig, path, token))).toEqual([other]);
  });

  const goodBodiesOfOthers = ['image', 'music', 'influencer'] as const;
});

describe('deletion', () => {
  test('a thumbnail goes by the id of its record, not by that of its job; its image goes too', async () => {
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

  test('a clipping job goes with all of its clips', async () => {
    const rig = openRig(infinite);
    const id = await rig.jobId('clipping', goodBodies.clipping);
    const clips = (await rig.status('clipping', id)).clips as { outputAsset: { url: string } }[];
    expect((await rig.call('DELETE', `/api/v1/clippings/${id}`)).status).toBe(200);
    expect(await listOf(rig, 'clippings/all')).toEqual([]);
    expect((await rig.call('GET', `/api/v1/clippings/${id}`)).status).toBe(404);
    expect((await rig.call('GET', `/api/v1/clippings/status/${id}`)).status).toBe(404);
    for (const { outputAsset } of clips) {
      expect((await rig.sandbox.fetch(new Request(outputAsset.url))).status).toBe(404);
    }
  });
});

describe('clips', () => {
  test('a job moves on only when it is asked through status or refresh', async () => {
    const rig = openRig();
    const id = await rig.jobId('clipping', goodBodies.clipping);
    const stored = async () => {
      const plain = dataOf((await rig.call('GET', `/api/v1/clippings/${id}`)).body);
      expect(await listOf(rig, 'clippings/all')).toEqual([plain]);
      return plain;
    };
    const asked = async (path: string) => dataOf((await rig.call('GET', `/api/v1/clippings/${path}/${id}`)).body);
    rig.clock.now += 40_000;
    expect(await stored()).toMatchObject({ status: 'QUEUED', clips: [] });
    const processing = await asked('refresh');
    expect(processing).toMatchObject({ status: 'PROCESSING', clips: [] });
    expect(await stored()).toEqual(processing);
    rig.clock.now += 90_000;
    expect(await stored()).toEqual(processing);
    const completed = await asked('status');
    expect(completed).toMatchObject({ status: 'COMPLETED', error: null });
    expect(await stored()).toEqual(completed);
    rig.clock.now += 90_000;
    expect(await asked('status')).toEqual(completed);
  });
});
