import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ServiceError } from '../../../src/contract/errors.ts';
import { createService } from '../../../src/service/service.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { type Call, key, type Reply, serveScript } from './scripted.ts';

const page: Reply = { text: '<html>Just a moment...</html>', headers: { 'content-type': 'text/html' } };
const empty: Reply = { text: '' };
const foreign: Reply = { json: { statusCode: 403, message: 'Forbidden' } };

/** The names of the calls that each place makes. */
const places = {
  create: 'POST /image-generations/create',
  poll: 'GET /image/status/j1',
  list: 'GET /videos/all',
  link: 'GET //files/j1',
  upload: 'POST /uploads',
};
const good: Record<string, Reply> = {
  [places.create]: { json: { success: true, generation: { id: 'j1', status: 'QUEUED' } } },
  [places.poll]: { json: { success: true, data: { id: 'j1', status: 'COMPLETED', outputUrl: '/files/j1' } } },
  [places.list]: { json: { success: true, generations: [] } },
  [places.link]: { text: 'bytes' },
  [places.upload]: { json: { success: true, data: { id: 'a1', url: 'https://files.example/a1' } } },
};

/** Performs one call of each place at a service that gives this reply `times` times, and then its own. */
async function meet(reply: Reply, times: number) {
  const { origin } = await serveScript(({ name }: Call, count) =>
    count <= times ? reply : (good[name] ?? { status: 404 }),
  );
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(path, 'a.png'), 'png');
  let now = 0;
  const clock = {
    now: () => now,
    random: () => 0.5,
    async sleep(ms: number) {
      now += ms;
    },
  };
  const service = createService({
    ...{ baseUrl: `${origin}/api/v1`, token: key, clock, folder: path },
    ...{ requestTimeoutMs: 2000, createTimeoutMs: 2000, patienceMs: Number.POSITIVE_INFINITY },
  });
  onTestFinished(() => service.close());
  const { signal } = new AbortController();
  const watching = { signal, fresh: false, onStatus() {}, notice() {} };
  const file = { path: 'a.png', sha256: createHash('sha256').update('png').digest('hex'), bytes: 3 };
  const created = await service.create({ kind: 'image', body: '{"prompt":"x"}', key: 'k' });
  const watched = await service.watch({ kind: 'image', jobId: 'j1' }, watching);
  const listed = await service.newestJob('video').then(
    () => 'listed',
    ({ why }: ServiceError) => why,
  );
  const opened = await service.open(`${origin}/files/j1`, signal);
  const uploaded = await service.upload(file, signal);
  return {
    create: created.is,
    poll: watched.is === 'unwatched' ? watched.because : watched.is,
    list: listed,
    link: opened.is,
    upload: uploaded.is === 'failed' ? uploaded.why : uploaded.is,
  };
}

const outage = { create: 'ambiguous', poll: 'unreachable', list: 'unreachable', upload: 'unreachable' };
const noRoute = { create: 'no-route', poll: 'unreachable', list: 'refused', upload: 'refused' };

/** What an answer without the documented body means at each place, where it is the answer for ever. */
test.each<[number, string, Reply, object]>([
  [400, 'page', page, { ...outage, link: 'expired' }],
  [401, 'empty body', empty, { ...outage, link: 'expired' }],
  [402, 'page', page, { ...outage, link: 'expired' }],
  [403, 'page', page, { ...outage, link: 'expired' }],
  [403, 'JSON of a gateway', foreign, { ...outage, link: 'expired' }],
  [407, 'page', page, { ...outage, link: 'expired' }],
  [422, 'page', page, { ...outage, link: 'expired' }],
  [429, 'page', page, { ...outage, create: 'throttled', link: 'unreachable' }],
  [451, 'page', page, { ...outage, link: 'expired' }],
  [503, 'page', page, { ...outage, link: 'unreachable' }],
  [511, 'page', page, { ...outage, link: 'unreachable' }],
  [200, 'page', page, { ...outage, link: 'open' }],
  [200, 'empty body', empty, { ...outage, link: 'open' }],
  [302, 'empty body', empty, { ...outage, link: 'refused' }],
  [404, 'page', page, { ...noRoute, link: 'expired' }],
  [405, 'page', page, { ...noRoute, link: 'expired' }],
])('%i with a %s is nobody’s word about the key, the job or the request', async (status, _body, reply, expected) => {
  const answer = { ...reply, status } as Reply;
  expect(await meet(answer, Number.POSITIVE_INFINITY)).toEqual(expected);
  // One odd answer ends neither the watching of a job nor, unless no such path is there, an upload.
  const { poll, upload } = await meet(answer, 1);
  expect(poll).toBe('completed');
  expect(upload).toBe(status === 404 || status === 405 ? 'refused' : 'uploaded');
});
