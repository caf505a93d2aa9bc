import { execFileSync } from 'node:child_process';
import { cpSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../rig/command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test.skipIf(process.platform === 'win32')('with umask 000 nobody else can change what a run writes', () => {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  cpSync(join(root, 'examples/quickstart/campaign.yaml'), join(folder, 'campaign.yaml'));
  cpSync(join(root, 'examples/quickstart/products.csv'), join(folder, 'products.csv'));
  const command = [process.execPath, join(root, 'dist/cli/bin.js'), 'apply', '--sandbox', '--yes'];
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
  execFileSync('sh', ['-c', 'umask 000; exec "$0" "$@"', ...command], { cwd: folder, env, stdio: 'ignore' });
  const written = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(written).toContain('campaign.sandbox.lock.jsonl');
  const open = written.filter((name) => {
    const stats = lstatSync(join(folder, name));
    return !stats.isSymbolicLink() && (stats.mode & 0o002) !== 0;
  });
  expect(open.filter((name) => name !== 'campaign.yaml' && name !== 'products.csv')).toEqual([]);
});
