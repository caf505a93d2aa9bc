import { describe, expect, test } from 'vitest';
import { idOf, jwt, openRig } from './rig.ts';

const hourMs = 60 * 60 * 1000;
const body = { prompt: 'a lamp' };

describe('Idempotency-Key', () => {
  test('the same key gives the very same answer and no second job', async () => {
    const rig = openRig();
    const first = await rig.createImage(body, { key: 'k' });
    await rig.createImage({ prompt: 'between' });
    rig.clock.now += 24 * hourMs - 1;
    const second = await rig.createImage(body, { key: 'k' });
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(rig.sandbox.ledger()).toHaveLength(2);
  });

  test('after 24 hours it is a new job', async () => {
    const rig = openRig();
    const first = idOf(await rig.createImage(body, { key: 'k' }));
    rig.clock.now += 24 * hourMs;
    const second = idOf(await rig.createImage(body, { key: 'k' }));
    expect(second).not.toBe(first);
    expect(idOf(await rig.createImage(body, { key: 'k' }))).toBe(second);
    expect(rig.sandbox.ledger()).toHaveLength(2);
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

  test('another kind is another request', async () => {
    const rig = openRig();
    const song = { prompt: 'calm', model: 'song-7.5' };
    await rig.createMusic(song, { key: 'k' });
    expect((await rig.createImage(song, { key: 'k' })).body.code).toBe('idempotency_key_reused');
  });

  test('only accepted creates are kept', async () => {
    const rig = openRig({ credits: 3, rateLimit: { creates: 3, perMs: 1_000 } });
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
        headers: {
          authorization: 'Bearer sandbox_live_local',
          'content-type': 'application/json',
          'idempotency-key': 'k',
        },
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

  test('many at once with one key book one job', async () => {
    const rig = openRig();
    const answers = await Promise.all(Array.from({ length: 20 }, () => rig.createImage(body, { key: 'k' })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(idOf)).size).toBe(1);
    expect(rig.sandbox.ledger()).toHaveLength(1);
  });
});
