/** `npm run test:room -- lock`: the plain tests of one room, and that it imports what it may. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './rig/command.ts';

/** They know no process, and neither do their tests: nothing needs to be built. */
const pure = ['ground', 'kinds', 'manifest', 'graph', 'lock', 'plan'];
const rooms = readdirSync(join(root, 'test/rooms'));
const [name = '', ...more] = process.argv.slice(2);
if (rooms.includes(name)) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const words = ['run', '--config', 'test/vitest.config.ts', '--project', 'plain', ...more];
  const files = [`test/rooms/${name}/`, 'test/architecture.test.ts'];
  const env = { ...process.env, ...(pure.includes(name) && { MEDIABATCH_TEST_NO_BUILD: '1' }) };
  const { status } = spawnSync(process.execPath, [vitest, ...words, ...files], { cwd: root, env, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else {
  process.stderr.write(`npm run test:room -- NAME, with one of ${rooms.join(', ')}\n`);
  process.exitCode = 64;
}
