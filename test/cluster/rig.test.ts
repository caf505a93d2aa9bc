import { describe, expect, test } from 'vitest';
import { ClusterPlace } from './rig/place.ts';

describe('what the other tests stand on', () => {
  test('the books notice a second spend, a key that was charged twice, and too many in flight', async ({
    onTestFinished,
  }) => {
    const { judge } = await ClusterPlace.make(onTestFinished);
    judge.cap = 1;
    judge.jobMs = 60_000;
    const create = (key: string, prompt: string) =>
      fetch(`${judge.url}/videos/create`, {
        method: 'POST',
        headers: { authorization: 'Bearer booking_live_one', 'idempotency-key': key },
        body: JSON.stringify({ prompt }),
      });
    await create('a', 'one');
    await create('a', 'one');
    expect(judge.wrong).toEqual([]);
    await create('b', 'one');
    expect(judge.wrong).toEqual([expect.stringContaining('paid twice: video one'), '2 in flight, 1 are allowed']);
  });
});
