import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startWorkers } from '../../../src/cluster/worker/start-workers.ts';
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
  const from = pathToFileURL(join(root, 'src/cluster/worker/start-workers.ts')).href;
  writeFileSync(
    path,
    `import { startWorkers } from ${JSON.stringify(from)};
startWorkers({
  count: 1,
  command: [process.execPath, ${JSON.stringify(bin)}, 'worker'],
  env: process.env,
  onLost: (said) => console.error(said),
  onRefused: (said) => console.error(said),
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

/** The first word of a worker of this program. */
async function firstWord(script: string): Promise<{ lost: string } | { refused: string }> {
  const command = [process.execPath, '-e', script] as const;
  let workers: ReturnType<typeof startWorkers> | undefined;
  const said = await new Promise<{ lost: string } | { refused: string }>((resolve) => {
    workers = startWorkers({
      ...{ count: 1, command, env: process.env },
      onLost: (lost) => resolve({ lost }),
      onRefused: (refused) => resolve({ refused }),
    });
  });
  await workers?.close();
  return said;
}

test('of a worker that ends by itself its message is told, and not the hint below it', async () => {
  const script = "console.error('error MB3702 it is away\\n  \u2192 check the address')";
  expect(await firstWord(script)).toEqual({ lost: 'error MB3702 it is away' });
});

test.each([64, 65, 77])('a worker that refuses what it was started with (%i) is not started again', async (code) => {
  const script = `console.error('error MB3201 no key'); process.exitCode = ${code}`;
  expect(await firstWord(script)).toEqual({ refused: 'error MB3201 no key' });
});
