import { expect, onTestFinished, test } from 'vitest';
import { submitRun } from '../../../src/cluster/runs/runs.ts';
import { openOperatorPort } from '../../../src/cluster/worker/operator-port.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);

async function opened() {
  const port = await openOperatorPort({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => port.close());
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port.port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  return { port, get };
}

const started = { is: 'started', worker: 'w', account, service: 's', server: 'db', files: 8 } as const;

test('a worker lives at once, and is ready while it works and its server answers', async () => {
  const { port, get } = await opened();
  expect([(await get('/healthz')).status, (await get('/readyz')).status]).toEqual([200, 503]);
  // A new installation has no store before its first `apply`.
  port.note({ is: 'no store', why: 'no marker' });
  expect((await get('/readyz')).status).toBe(200);
  port.note(started);
  expect((await get('/readyz')).status).toBe(200);
  port.note({ is: 'server away', error: 'refused' });
  expect(await get('/readyz')).toEqual({ status: 503, text: 'the engine is away: refused\n' });
  port.note({ is: 'server back' });
  expect((await get('/readyz')).status).toBe(200);
  port.note({ is: 'ending', because: 'SIGTERM' });
  expect([(await get('/readyz')).status, (await get('/healthz')).status]).toEqual([503, 200]);
  expect((await get('/other')).status).toBe(404);
});

test('a worker is not ready while a run of its account lacks something that no living worker has', async () => {
  const { db, boss } = await engineHere();
  const { port, get } = await opened();
  port.watch({ db, account, facts: () => ({}) });
  port.note(started);
  await submitRun(db, boss, submission({ account: 'b'.repeat(32) }));
  expect((await get('/readyz')).status).toBe(200);
  const { id } = await submitRun(db, boss, submission({ account }));
  expect(await get('/readyz')).toEqual({ status: 503, text: `run ${id} of spring lacks a worker\n` });
});

test('figures: of the process, of its work as a head, of the queue, and errors by their kind', async () => {
  const { db, boss } = await engineHere();
  const { port, get } = await opened();
  port.watch({ db, account, facts: () => ({ runs: 1, creates: 2, spent: 120, held: 40 }) });
  port.note({ is: 'head', epoch: 1, runs: 1, waitMs: 0 });
  port.note({ is: 'failed', error: 'no', againAfterMs: 1 });
  port.created();
  port.seen(1500);
  port.note({ is: 'run ended', campaign: 'c', run: 'r', exit: 3, credits: 7, outcomes: { done: 2, failed: 1 } });
  const queue = `files-v1-${account}-store`;
  await boss.createQueue(queue);
  await boss.send(queue, { file: 'one' });
  await db.query("UPDATE mediabatch_queue.job SET created_on = now() - interval '90 s'");
  const lines = (await get('/metrics')).text.split('\n');
  const plain = lines.map((line) => line.replace(/,?account="a{8}",?/, '').replace('{}', ''));
  const figure = (name: string) => Number(plain.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
  expect(figure('mediabatch_head')).toBe(1);
  expect(figure('mediabatch_head_creates_on_wire')).toBe(2);
  expect(figure('mediabatch_head_credits_spent')).toBe(120);
  expect(figure('mediabatch_head_credits_held')).toBe(40);
  expect(figure('mediabatch_worker_events_total{event="failed"}')).toBe(1);
  expect(figure('mediabatch_creates_total')).toBe(1);
  expect(figure('mediabatch_steps_total{outcome="failed"}')).toBe(1);
  expect(figure('mediabatch_credits_total')).toBe(7);
  expect(lines).toContain('mediabatch_head{account="aaaaaaaa"} 1');
  expect(figure('mediabatch_detection_lag_seconds_sum')).toBe(1.5);
  expect(figure('mediabatch_files_queued')).toBe(1);
  expect(figure('mediabatch_files_queued_age_seconds')).toBeGreaterThanOrEqual(90);
  expect(figure('mediabatch_database_connections')).toBeGreaterThan(0);
  expect(figure('process_resident_memory_bytes')).toBeGreaterThan(0);
  port.note({ is: 'head left', why: 'handed over' });
  expect((await get('/metrics')).text).toContain('\nmediabatch_head{account="aaaaaaaa"} 0\n');
});

test('a port that is taken is named', async () => {
  const { port } = await opened();
  await expect(openOperatorPort({ port: port.port, host: '127.0.0.1' })).rejects.toMatchObject({
    failure: { code: 'MB3303', message: expect.stringContaining(`port ${port.port}`) },
  });
});
