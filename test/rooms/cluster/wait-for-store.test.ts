import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/cluster/store/store.ts';
import { startWorker } from '../../../src/cluster/worker/start-worker.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import type { WorkerNews } from '../../../src/contract/engine-state.ts';
import { freshDatabase } from '../../rig/postgres.ts';

test('a worker that is started before its store is made waits for it, says so once, and writes nothing there', async () => {
  const store = mkdtempSync(join(tmpdir(), 'mediabatch-store-'));
  onTestFinished(() => rmSync(store, { recursive: true, force: true, maxRetries: 5 }));
  const ending = new AbortController();
  const news: WorkerNews[] = [];
  let looks = 0;
  const clock = {
    ...systemClock,
    async sleep(ms: number, signal?: AbortSignal) {
      if (ms === 3000) looks += 1;
      await wait(Math.min(ms, 20), undefined, { signal }).catch(() => {});
    },
  };
  const working = startWorker({
    engine: await freshDatabase(),
    access: { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key_of_a_test' },
    version: '0',
    clock,
    signal: ending.signal,
    exitWhenIdle: false,
    tell: (one) => news.push(one),
    accountOf: () => undefined,
    store,
    onSize: () => {},
    files: 2,
  });
  while (looks < 3) await wait(5);
  expect(news.map(({ is }) => is)).toEqual(['no store']);
  expect(readdirSync(store)).toEqual([]);
  await openStore(store, { makes: true });
  while (!news.some(({ is }) => is === 'started')) await wait(5);
  expect(news.find(({ is }) => is === 'started')).toMatchObject({ store, files: 2 });
  ending.abort('SIGTERM');
  await working;
});

test.each(['signal', 'drain'] as const)('a %s ends a worker that waits for its store, at once', async (how) => {
  const store = mkdtempSync(join(tmpdir(), 'mediabatch-store-'));
  onTestFinished(() => rmSync(store, { recursive: true }));
  const ending = new AbortController();
  const news: WorkerNews[] = [];
  await startWorker({
    engine: await freshDatabase(),
    access: { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key_of_a_test' },
    version: '0',
    clock: systemClock,
    signal: new AbortController().signal,
    [how]: ending.signal,
    exitWhenIdle: false,
    tell: (one) => {
      news.push(one);
      if (one.is === 'no store') ending.abort('SIGTERM');
    },
    accountOf: () => undefined,
    store,
    onSize: () => {},
    files: 2,
  });
  expect(news.slice(1)).toEqual([{ is: 'ending', because: 'SIGTERM' }]);
});
