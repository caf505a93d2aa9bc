import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

// Changes the code of lock, run and plan in thousands of small ways, in a copy, and counts how many of them a test sees.
//   npm run test:mutation [-- --mutate src/lock/join.ts]

const root = fileURLToPath(new URL('../../..', import.meta.url));
const rooms = ['src/lock', 'src/run', 'src/plan'];
const leastPercent = 85;
/** Every mutant runs the properties again; so many cases of each are enough to see it. */
const runsOfAProperty = 25;
/** No dependencies: they are large, and only this needs them. They do not find their plugins through a linked folder. */
const tools = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/vitest-runner@9.6.1'];

interface Report {
  files: { [path: string]: { mutants: { status: string }[] } };
}

interface Count {
  seen: number;
  all: number;
}

function makeCopy(copy: string): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const path of listed
    .toString()
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path), { force: true });
    if (path.startsWith('test/') && path.endsWith('.ts')) shortenProperties(join(copy, path));
  }
  runInherited('npm', ['install', '--silent', '--no-save', '--ignore-scripts', ...tools], copy);
  runInherited('npm', ['run', '--silent', 'generate'], copy);
}

function shortenProperties(path: string): void {
  const text = readFileSync(path, 'utf8');
  if (text.includes('numRuns:'))
    writeFileSync(path, text.replace(/numRuns: (?:\d+|runs\(\d+\))/g, `numRuns: ${runsOfAProperty}`));
}

function runInherited(command: string, args: string[], cwd: string): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

/** Mutants that break the program as such (errors, ignored ones) say nothing about the tests and are not counted. */
function countMutants({ files }: Report, room: string): Count {
  const statuses = Object.entries(files)
    .filter(([path]) => path.startsWith(`${room}/`))
    .flatMap(([, { mutants }]) => mutants.map(({ status }) => status));
  const seen = statuses.filter((status) => status === 'Killed' || status === 'Timeout').length;
  const missed = statuses.filter((status) => status === 'Survived' || status === 'NoCoverage').length;
  return { seen, all: seen + missed };
}

function percent({ seen, all }: Count): number {
  return all === 0 ? 0 : (100 * seen) / all;
}

function tell(name: string, count: Count): void {
  process.stdout.write(
    `${name.padEnd(8)} ${percent(count).toFixed(1)} %  ${count.seen} of ${count.all} mutants seen\n`,
  );
}

const { values } = parseArgs({ options: { mutate: { type: 'string' } } });
const copy = mkdtempSync(join(tmpdir(), 'mediabatch-mutation-'));
try {
  makeCopy(copy);
  const only = values.mutate === undefined ? [] : ['--mutate', values.mutate];
  const stryker = join(copy, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  runInherited(process.execPath, [stryker, 'run', 'test/proof/mutation/stryker.config.json', ...only], copy);
  const report = JSON.parse(readFileSync(join(copy, 'mutation.json'), 'utf8')) as Report;
  const counts = rooms.map((room) => countMutants(report, room));
  const total = counts.reduce((sum, { seen, all }) => ({ seen: sum.seen + seen, all: sum.all + all }), {
    seen: 0,
    all: 0,
  });
  for (const [index, count] of counts.entries()) if (count.all > 0) tell(rooms[index] ?? '', count);
  tell('total', total);
  process.exitCode = percent(total) >= leastPercent ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
