import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { command, root, sandboxProcess, temporaryFolder } from './command.ts';

/** Names of the campaigns in `examples/`, sorted. */
export function exampleNames(): string[] {
  const entries = readdirSync(join(root, 'examples'), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && entry.name !== 'github')
    .map(({ name }) => name)
    .sort();
}

/** An example in a folder of its own, with a service in a process of its own. Both go away with the test. */
export async function openExample(name: string) {
  const folder = temporaryFolder();
  const service = temporaryFolder();
  const sandbox = await sandboxProcess(service.path);
  onTestFinished(async () => {
    await sandbox.stop();
    folder.remove();
    service.remove();
  });
  cpSync(join(root, 'examples', name), folder.path, {
    recursive: true,
    filter: (path) => !/\.sandbox|\.mediabatch/.test(path),
  });
  return { sandbox, run: (...args: string[]) => command(args, { cwd: folder.path, env: sandbox.env }) };
}
