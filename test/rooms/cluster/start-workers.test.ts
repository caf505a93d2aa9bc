import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startWorkers } from '../../../src/cluster/start-workers.ts';
import { bin, root, temporaryFolder } from '../../rig/command.ts';
import { engineHere } from './engine-here.ts';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A program that starts one worker beside itself, and does nothing else. */
function owner(folder: string): string {
  const path = join(folder, 'owner.mts');
  const from = pathToFileURL(join(root, 'src/cluster/start-workers.ts')).href;
  writeFileSync(
    path,
    `import { startWorkers } from ${JSON.stringify(from)};
startWorkers({
  count: 1,
  command: [process.execPath, ${JSON.stringify(bin)}, 'worker'],
  env: process.env,
  onLost: (said) => console.error(said),
});
`,
  );
  return path;
}

test('a worker ends by itself, and takes its name off the engine, when whoever started it is killed', async () => {
  const { url, db } = await engineHere();
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const service = { MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1', MEDIABATCH_API_KEY: 'key' };
  const started = spawn(process.execPath, ['--import', 'tsx', owner(folder)], {
    cwd: root,
    env: { ...process.env, ...service, MEDIABATCH_ENGINE: url },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const isOver = new Promise((resolve) => started.once('exit', resolve));
  onTestFinished(() => {
    started.kill('SIGKILL');
  });
  const pids = async () => (await db.query<{ pid: number }>('SELECT pid FROM mediabatch.worker')).map(({ pid }) => pid);
  let [pid] = await pids();
  for (; pid === undefined; [pid] = await pids()) await wait(50);
  const worker = pid;
  onTestFinished(() => {
    if (isRunning(worker)) process.kill(worker, 'SIGKILL');
  });
  started.kill('SIGKILL');
  await isOver;
  while (isRunning(worker)) await wait(50);
  expect(await pids()).toEqual([]);
});

test('of a worker that ends by itself its message is told, and not the hint below it', async () => {
  const script = "console.error('error MB3702 it is away\\n  \u2192 check the address')";
  let workers: ReturnType<typeof startWorkers> | undefined;
  const said = await new Promise<string>((onLost) => {
    workers = startWorkers({ count: 1, command: [process.execPath, '-e', script], env: process.env, onLost });
  });
  expect(said).toBe('error MB3702 it is away');
  await workers?.close();
});
