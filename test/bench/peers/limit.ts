import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Dispatcher, Pool } from 'undici';

/**
 * What a step costs at least in Node: three requests, no polling (the stub says when a job is ready), no checks, no
 * manifest language, a journal that is not synced. `limit.js TASKS.json CONCURRENCY`, in the folder of the outputs.
 */
interface Task {
  body: string;
  needs: number[];
  save: string;
}

const [, , file = '', concurrency = '1'] = process.argv;
const tasks = JSON.parse(readFileSync(file, 'utf8')) as Task[];
const base = new URL(process.env.MEDIABATCH_BASE_URL ?? '');
const headers = { authorization: 'Bearer bench_live_0123456789', 'content-type': 'application/json' };
const done = new Set(readJournal().filter((index) => statSync(tasks[index]?.save ?? '').size > 0));

if (done.size < tasks.length) {
  const { Pool } = await import('undici');
  const pool = new Pool(base.origin, { connections: Number(concurrency), pipelining: 1 });
  const journal = openSync('journal', 'a');
  for (const folder of new Set(tasks.map(({ save }) => dirname(save)))) mkdirSync(folder, { recursive: true });
  await runAll({ pool, append: (line) => void writeSync(journal, line) });
  closeSync(journal);
  await pool.close();
}

interface Means {
  pool: Pool;
  append(line: string): void;
}

async function runAll(means: Means): Promise<void> {
  const left = tasks.map(({ needs }) => needs.filter((index) => !done.has(index)).length);
  const users = new Map<number, number[]>();
  for (const [index, { needs }] of tasks.entries()) {
    for (const need of needs) users.set(need, [...(users.get(need) ?? []), index]);
  }
  const queue = [...tasks.keys()].filter((index) => !done.has(index) && left[index] === 0);
  let next = 0;
  let running = 0;
  await new Promise<void>((resolve, reject) => {
    const pump = () => {
      if (next === queue.length && running === 0) resolve();
      while (running < Number(concurrency) && next < queue.length) {
        const index = queue[next] ?? 0;
        next += 1;
        running += 1;
        runTask(means, tasks[index], index)
          .then(() => {
            running -= 1;
            for (const user of users.get(index) ?? []) {
              left[user] = (left[user] ?? 0) - 1;
              if (left[user] === 0) queue.push(user);
            }
            pump();
          })
          .catch(reject);
      }
    };
    pump();
  });
}

async function runTask(means: Means, task: Task | undefined, index: number): Promise<void> {
  const { pool, append } = means;
  if (task === undefined) throw new Error('no such task');
  const created = await call(pool, {
    method: 'POST',
    path: `${base.pathname}/image-generations/create`,
    body: task.body,
  });
  const { generation, readyInMs } = JSON.parse(created) as { generation: { id: string }; readyInMs: number };
  if (readyInMs > 0) await new Promise((resolve) => setTimeout(resolve, readyInMs + 1));
  const status = await call(pool, { method: 'GET', path: `${base.pathname}/image/status/${generation.id}` });
  const { data } = JSON.parse(status) as { data: { outputUrl?: string } };
  if (data.outputUrl === undefined) throw new Error(`${generation.id} is not ready`);
  await call(pool, { method: 'GET', path: new URL(data.outputUrl).pathname }, task.save);
  append(`${index}\n`);
}

interface Request {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

/** Resolves with the body, or writes it chunk by chunk into a file. */
function call(pool: Pool, request: Request, save?: string) {
  return new Promise<string>((resolve, reject) => {
    const target = save === undefined ? undefined : openSync(`${save}.part`, 'w');
    let text = '';
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStart(_controller, status) {
        if (status !== 200) reject(new Error(`${request.path}: ${status}`));
      },
      onResponseData(_controller, chunk) {
        if (target === undefined) text += chunk.toString('latin1');
        else writeSync(target, chunk);
      },
      onResponseEnd() {
        if (target !== undefined && save !== undefined) {
          closeSync(target);
          renameSync(`${save}.part`, save);
        }
        resolve(text);
      },
      onResponseError: (_controller, error) => reject(error),
    };
    pool.dispatch({ ...request, body: request.body ?? null, headers }, handler);
  });
}

function readJournal(): number[] {
  return existsSync('journal') ? readFileSync('journal', 'utf8').trimEnd().split('\n').map(Number) : [];
}
