import { afterAll, beforeAll, expect, test } from 'vitest';
import { createService } from '../../../src/service/service.ts';
import { apiKey, openRig, type Rig } from './rig.ts';

let rig: Rig;
let client: ReturnType<typeof createService>;

beforeAll(async () => {
  rig = await openRig();
  client = createService({
    baseUrl: rig.baseUrl,
    token: apiKey,
    // Time passes only while the client waits, and then at once: in the sandbox it is the same clock.
    clock: {
      now: () => rig.clock.now,
      random: () => 0.5,
      async sleep(ms) {
        rig.clock.now += ms;
      },
    },
    pollIntervalMs: 500,
    requestTimeoutMs: 20_000,
    createTimeoutMs: 20_000,
    patienceMs: Number.POSITIVE_INFINITY,
  });
});
afterAll(async () => {
  await client?.close();
  await rig?.close();
});

// A violation comes back as a status that no service gives, so the client would not get to the end of a job.
test.each([
  ['image', { prompt: 'a lamp', model: 'alpha-2', aspectRatio: '16:9', resolution: '2k' }],
  ['image', { prompt: 'a lamp', referenceImages: ['https://cdn.example.com/a.png'] }],
  ['music', { prompt: 'calm', lyrics: 'la la', output_format: 'wav' }],
  ['music', { prompt: 'calm', model: 'song-7.5' }],
])('what the client sends for %s and understands of the answers is the documented API: %j', async (kind, body) => {
  const before = rig.sandbox.requests().length;
  const call = { kind, body: JSON.stringify(body), key: `${kind}-${JSON.stringify(body).length}` };
  const created = await client.create(call);
  expect(created).toMatchObject({ is: 'accepted' });
  if (created.is !== 'accepted') return;
  expect(await client.create(call)).toEqual(created);
  const statuses: string[] = [];
  const end = await client.watch(
    { kind, jobId: created.job.jobId },
    {
      signal: new AbortController().signal,
      fresh: true,
      onStatus: (status) => statuses.push(status),
      notice: (text) => expect.unreachable(text),
    },
  );
  expect(['completed', 'failed']).toContain(end.is);
  expect(statuses[0]).toBe('QUEUED');
  expect(statuses).toContain('PROCESSING');
  expect(rig.sandbox.requests().length).toBeGreaterThan(before + 3);
});

test('what the service refuses reaches the client as a refusal', async () => {
  const refused = await client.create({ kind: 'image', body: JSON.stringify({ prompt: ' ' }), key: 'refused' });
  expect(refused).toMatchObject({ is: 'refused', status: 400, why: 'invalid' });
});
