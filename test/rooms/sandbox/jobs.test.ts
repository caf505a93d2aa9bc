import { describe, expect, test } from 'vitest';
import { dataOf, openRig } from './rig.ts';

const song = { prompt: 'calm', model: 'song-7.5' };

describe('the life of a job', () => {
  test('failRate: the same jobs fail every time', async () => {
    const statusesOf = async () => {
      const rig = openRig({ speed: Number.POSITIVE_INFINITY, failRate: 0.4 });
      const statuses: unknown[] = [];
      for (let index = 0; index < 40; index += 1) {
        const id = await rig.imageId({ prompt: `picture ${index}` });
        const data = dataOf((await rig.call('GET', `/api/v1/image/status/${id}`)).body);
        if (data.status === 'FAILED') {
          expect(data).toMatchObject({ error: expect.any(String), completedAt: expect.any(String) });
          expect(data).not.toHaveProperty('outputUrl');
        }
        statuses.push(data.status);
      }
      return statuses;
    };
    const first = await statusesOf();
    expect(await statusesOf()).toEqual(first);
    const failed = first.filter((status) => status === 'FAILED').length;
    expect(failed).toBeGreaterThan(6);
    expect(failed).toBeLessThan(26);
  });
});

test('a deleted song is gone, its file and its money too', async () => {
  const rig = openRig({ speed: Number.POSITIVE_INFINITY });
  const id = await rig.musicId(song);
  const url = await rig.outputUrl('music', id);
  const { status, body } = await rig.call('DELETE', `/api/v1/music-generations/${id}`);
  expect(status).toBe(200);
  expect(body).toEqual({ success: true, message: expect.any(String) });
  expect((await rig.call('GET', `/api/v1/music/status/${id}`)).status).toBe(404);
  expect((await rig.call('DELETE', `/api/v1/music-generations/${id}`)).status).toBe(404);
  expect((await rig.sandbox.fetch(new Request(url))).status).toBe(404);
  expect(rig.sandbox.balance()).toBe(996);
  expect(rig.sandbox.ledger()).toHaveLength(1);
});
