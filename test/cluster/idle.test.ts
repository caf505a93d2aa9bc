import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ClusterPlace } from './rig/place.ts';
import { until } from './rig/processes.ts';

const workers = 4;
const watchedMs = 30_000;

test('a worker that has nothing to do costs the server two connections, and a commit in two seconds', async ({
  onTestFinished,
}) => {
  const place = await ClusterPlace.make(onTestFinished);
  const { server } = place;
  const commits = async () => {
    const text = "SELECT xact_commit::int AS n FROM pg_stat_database WHERE datname = 'postgres'";
    return (await server.ask<{ n: number }>(text))[0]?.n ?? 0;
  };
  const connections = async () => {
    const text =
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = 'postgres' AND pid <> pg_backend_pid()";
    return (await server.ask<{ n: number }>(text))[0]?.n ?? 0;
  };
  // Without the shorter waits of the rig, which close connections sooner, too.
  const started = Array.from({ length: workers }, () => place.worker([], { env: { NODE_OPTIONS: '' } }));
  await until('all workers work', () => started.every((one) => one.err().includes('fetches files into')));
  // What they opened to begin with is closed after ten seconds.
  await wait(15_000);
  const [before, since] = [await commits(), performance.now()];
  await wait(watchedMs);
  const rate = ((await commits()) - before) / ((performance.now() - since) / 1000) / workers;
  expect(await connections()).toBeLessThanOrEqual(2 * workers);
  expect(rate).toBeLessThanOrEqual(0.5);
});
