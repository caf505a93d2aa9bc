import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { command, root, temporaryFolder } from './command.ts';
import { serviceHere } from './service-here.ts';

/** Names of the campaigns in `examples/`, sorted. */
export function exampleNames(): string[] {
  const entries = readdirSync(join(root, 'examples'), { withFileTypes: true });
  return entries
    .filter(({ name }) => existsSync(join(root, 'examples', name, 'campaign.yaml')))
    .map(({ name }) => name)
    .sort();
}

/** An example in a folder of its own, with a service. Both go away with the test. */
export async function openExample(name: string) {
  const folder = temporaryFolder();
  const sandbox = await serviceHere();
  onTestFinished(async () => {
    await sandbox.close();
    folder.remove();
  });
  cpSync(join(root, 'examples', name), folder.path, {
    recursive: true,
    filter: (path) => !/\.sandbox|\.mediabatch/.test(path),
  });
  return {
    sandbox,
    folder: folder.path,
    run: (...args: string[]) => command(args, { cwd: folder.path, env: sandbox.env }),
  };
}
