/**
 * `npm run test:release`: all models, crashes, histories, seeds and controls at full depth; takes an hour. What `.ci/run` shows is
 * not repeated. Its date and result go into `help numbers`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './rig/command.ts';

const depth = { MEDIABATCH_HISTORIES: '500', MEDIABATCH_MODEL_RUNS: '3000', MEDIABATCH_CLUSTER_SEEDS: '100' };
const env = { ...depth, ...process.env, CI: 'true', MEDIABATCH_TEST_SET: 'release' };
const begin = Date.now();
const verdicts = [
  'npm run --silent test:crash',
  'npm run --silent test:cluster',
  'npm run --silent test:controls',
  'npm run --silent test:soak',
  'npx tsx test/bench/big-files.ts',
].map((command) => {
  const start = Date.now();
  const [program = '', ...words] = command.split(' ');
  const { status } = spawnSync(program, words, {
    cwd: root,
    env,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  return {
    command,
    passed: status === 0,
    line: `${status === 0 ? 'ok    ' : 'FAILED'} ${command} (${Math.round((Date.now() - start) / 1000)} s)`,
  };
});
process.stdout.write(`\n${verdicts.map(({ line }) => `${line}\n`).join('')}`);
const failed = verdicts.filter(({ passed }) => !passed).map(({ command }) => command);
const result = failed.length === 0 ? 'passed' : `failed: ${failed.join(', ')}`;
const page = join(root, 'src/manual/numbers.md');
const line = `\`npm run test:release\` on ${new Date(begin).toISOString().slice(0, 10)}, ${Math.round((Date.now() - begin) / 60_000)} min: ${result}.`;
writeFileSync(page, readFileSync(page, 'utf8').replace(/^`npm run test:release`.*$/m, line));
process.exitCode = failed.length === 0 ? 0 : 1;
