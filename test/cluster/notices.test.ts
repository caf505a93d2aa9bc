import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { test } from 'vitest';
import { manifestOf } from './rig/campaign.ts';
import { applied, ClusterPlace, loading } from './rig/place.ts';
import { until } from './rig/processes.ts';

test.concurrent.for([
  ['before the end is on record', 'before'],
  ['with the end sent', 'written'],
  ['with the end on record, and not told', 'confirmed'],
])('a head that dies %s: how the run has ended is told once', async ([, when = ''], { onTestFinished, expect: it }) => {
  const heard: unknown[] = [];
  const server = createServer((request, response) => {
    void json(request).then((notice) => {
      heard.push(notice);
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const place = await ClusterPlace.make(onTestFinished);
  place.write('campaign.yaml', manifestOf({ rows: 3, concurrency: 4, budget: 1000 }));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const log = `${place.folder}/halted`;
  const halting = { HALT_PATTERN: "SET state = 'ended'", HALT_WHEN: when, HALT_LOG: log, ...loading('halt-at.mjs') };
  const head = place.worker([], { env: { MEDIABATCH_NOTIFY_URL: url, ...halting } });
  const submitter = place.submit(['--store', place.store]);
  await until(`it halted; ${head.err()}`, () => existsSync(log));
  it((await head.ended).signal, head.err()).toBe('SIGKILL');
  const next = place.worker([], { env: { MEDIABATCH_NOTIFY_URL: url } });
  const ran = await applied(submitter);
  it(ran.code, ran.err).toBe(0);
  await until(`it was told; ${next.err()}`, () => heard.length > 0);
  next.signal('SIGTERM');
  await next.ended;
  it(heard).toMatchObject([{ mediabatch: 'notification', campaign: 'chaos', exit: 0, reason: 'done' }]);
});
