import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { request } from 'undici';
import { parse } from 'yaml';

/**
 * The script that a careful person writes in an afternoon: a YAML file, p-queue, a look every 2 s, and a JSON lock file
 * that is rewritten after each change, so that nothing is bought twice. `naive.js TASKS.yaml`.
 */
interface Task {
  id: string;
  prompt: string;
  needs?: string[];
  save: string;
}
interface Entry {
  key: string;
  job?: string;
  done?: boolean;
}

const { concurrency, tasks } = parse(await readFile(process.argv[2] ?? '', 'utf8')) as {
  concurrency: number;
  tasks: Task[];
};
const base = process.env.MEDIABATCH_BASE_URL ?? '';
const headers = { authorization: 'Bearer bench_live_0123456789', 'content-type': 'application/json' };
const lockFile = 'lock.json';
const lock: Record<string, Entry> = existsSync(lockFile)
  ? (JSON.parse(await readFile(lockFile, 'utf8')) as Record<string, Entry>)
  : {};
const queue = new PQueue({ concurrency });
const byId = new Map(tasks.map((task) => [task.id, task]));
const runs = new Map<string, Promise<void>>();
let saving = Promise.resolve();

await Promise.all(tasks.map(run));

function run(task: Task): Promise<void> {
  const known = runs.get(task.id);
  if (known !== undefined) return known;
  const needs = (task.needs ?? []).flatMap((id) => byId.get(id) ?? []);
  const work = Promise.all(needs.map(run)).then(() => queue.add(() => make(task)));
  runs.set(task.id, work);
  return work;
}

async function make(task: Task): Promise<void> {
  const body = JSON.stringify({ prompt: task.prompt, aspectRatio: '1:1' });
  const key = createHash('sha256').update(`${task.id} ${body}`).digest('hex');
  const known = lock[task.id];
  const entry: Entry = known?.key === key ? known : { key };
  if (entry.done && existsSync(task.save)) return;
  lock[task.id] = entry;
  if (entry.job === undefined) {
    const created = await call('/image-generations/create', { body, key });
    entry.job = (created as { generation: { id: string } }).generation.id;
    await saveLock();
  }
  for (;;) {
    const { data } = (await call(`/image/status/${entry.job}`)) as {
      data: { status: string; outputUrl?: string; error?: string };
    };
    if (data.status === 'FAILED') throw new Error(`${task.id}: ${data.error}`);
    if (data.status === 'COMPLETED' && data.outputUrl !== undefined) {
      const answer = await request(data.outputUrl);
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      await mkdir(dirname(task.save), { recursive: true });
      await writeFile(`${task.save}.part`, bytes);
      await rename(`${task.save}.part`, task.save);
      break;
    }
    await sleep(2000);
  }
  entry.done = true;
  await saveLock();
}

async function call(path: string, create?: { body: string; key: string }): Promise<unknown> {
  const answer = await request(`${base}${path}`, {
    method: create === undefined ? 'GET' : 'POST',
    headers: create === undefined ? headers : { ...headers, 'idempotency-key': create.key },
    body: create?.body ?? null,
  });
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${await answer.body.text()}`);
  return answer.body.json();
}

/** One at a time, each with everything that is known by then. */
function saveLock(): Promise<void> {
  saving = saving.then(async () => {
    await writeFile(`${lockFile}.part`, JSON.stringify(lock, null, 1));
    await rename(`${lockFile}.part`, lockFile);
  });
  return saving;
}
