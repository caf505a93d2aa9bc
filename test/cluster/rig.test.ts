import { describe, expect, test } from 'vitest';
import { ClusterPlace } from './rig/place.ts';
import { until } from './rig/processes.ts';

describe('what the other tests stand on', () => {
  test('a Postgres that is killed keeps what was committed, and comes back', async ({ onTestFinished }) => {
    const { server } = await ClusterPlace.make(onTestFinished);
    await server.ask('CREATE TABLE kept AS SELECT 7 AS n');
    await server.kill();
    await expect(server.ask('SELECT 1')).rejects.toThrow();
    await server.start();
    expect(await server.ask('SELECT n FROM kept')).toEqual([{ n: 7 }]);
    expect(await server.dump()).toContain('public.kept\n(7)');
  });

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

  test('whatever was started in a place is found there, stopped or not, and ended', async ({ onTestFinished }) => {
    const { processes, folder } = await ClusterPlace.make(onTestFinished);
    const before = processes.left().length;
    const shell = processes.start('shell', ['sh', '-c', 'sleep 300 & wait'], { cwd: folder, env: process.env });
    await until('both run', () => processes.left().length === before + 2);
    shell.signal('SIGSTOP');
    await processes.end();
    expect(processes.left()).toEqual([]);
  });
});
