import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { filesOfRoom, mutatedRooms, roomNamed } from './rooms.ts';

// Changes the code of a room in many small ways, in a copy of the tree, and counts how many of them a test sees.
//   npm run test:mutation [-- --room service] [--sample 300 | --all] [--seed 1] [--file src/lock/join.ts]

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Every mutant runs the properties again; so many cases of each are enough to see it. */
const runsOfAProperty = 25;
/** No dependencies: they are large, and only this needs them. They do not find their plugins through a linked folder. */
const tools = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/vitest-runner@9.6.1'];

type Place = { line: number; column: number };

interface Mutant {
  status: string;
  mutatorName: string;
  replacement: string;
  location: { start: Place; end: Place };
}

interface Report {
  files: { [path: string]: { mutants: Mutant[] } };
}

interface Score {
  seen: number;
  all: number;
  missed: string[];
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
  runInherited('npm', ['install', '--silent', '--no-save', '--ignore-scripts', ...tools], { cwd: copy });
  runTestsInProcesses(join(copy, 'node_modules/@stryker-mutator/vitest-runner/dist/src/vitest-test-runner.js'));
  runInherited('npm', ['run', '--silent', 'build'], { cwd: copy });
}

/** Stryker insists on threads, and a thread cannot change its working folder, as commands do in their tests. */
function runTestsInProcesses(runner: string): void {
  const parts = readFileSync(runner, 'utf8').split("pool: 'threads'");
  writeFileSync(runner, parts.join("pool: 'forks'"));
}

function shortenProperties(path: string): void {
  const text = readFileSync(path, 'utf8');
  if (text.includes('numRuns:'))
    writeFileSync(path, text.replace(/numRuns: (?:\d+|runs\(\d+\))/g, `numRuns: ${runsOfAProperty}`));
}

function runInherited(command: string, args: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): void {
  const { status, error } = spawnSync(command, args, { ...options, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 2).join(' ')} ended with ${status}`);
}

function listSources(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src'], { cwd: root });
  return listed
    .toString()
    .split('\n')
    .filter((path) => path.endsWith('.ts') && existsSync(join(root, path)));
}

/** Mutants that break the program as such, and those of code that runs when a module is loaded, say nothing of the tests. */
async function readScore(copy: string, sample: Set<string>): Promise<Score> {
  const { idOf } = (await import(join(copy, 'test/proof/mutation/sample.mjs'))) as {
    idOf(path: string, mutant: Mutant, firstLine: number): string;
  };
  const { files } = JSON.parse(readFileSync(join(copy, 'mutation.json'), 'utf8')) as Report;
  const tried = Object.entries(files).flatMap(([path, { mutants }]) =>
    mutants
      .map((mutant) => ({ ...mutant, id: idOf(join('/', path), mutant, 1) }))
      .filter(({ id, status }) => sample.has(id) && /^(Killed|Timeout|Survived|NoCoverage)$/.test(status)),
  );
  const missed = tried.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  return {
    seen: tried.length - missed.length,
    all: tried.length,
    missed: missed.map(({ id, mutatorName, status }) => `${status.padEnd(10)} ${mutatorName}: ${id}`),
  };
}

async function mutate(copy: string, name: string, files: string[]): Promise<boolean> {
  const { leastPercent } = roomNamed(name);
  const size = values.all ? '1000000' : values.sample;
  const drawn = execFileSync(
    process.execPath,
    ['test/proof/mutation/sample.mjs', values.seed, size, JSON.stringify(files)],
    { cwd: copy, maxBuffer: 1 << 28 },
  );
  const { all, chosen } = JSON.parse(drawn.toString()) as { all: number; chosen: string[] };
  const sample = join(copy, 'sample.json');
  writeFileSync(sample, JSON.stringify(chosen));
  const stryker = join(copy, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  const config = ['run', 'test/proof/mutation/stryker.config.json', '--mutate', files.join(',')];
  // A mutant may leave its files, and a secret of its own, where others would look for theirs.
  const temporary = join(copy, 'temporary');
  mkdirSync(temporary, { recursive: true });
  const own = { TMPDIR: temporary, XDG_STATE_HOME: temporary };
  const env = { ...process.env, ...own, MEDIABATCH_MUTATION_ROOM: name, MEDIABATCH_MUTATION_SAMPLE: sample };
  runInherited(process.execPath, [stryker, ...config], { cwd: copy, env });
  const score = await readScore(copy, new Set(chosen));
  const percent = (100 * score.seen) / Math.max(1, score.all);
  const drawnFrom = chosen.length < all ? `, a sample of ${chosen.length} of ${all} (seed ${values.seed})` : '';
  process.stdout.write(`${score.missed.map((line) => `${line}\n`).join('')}`);
  process.stdout.write(`${name.padEnd(8)} ${percent.toFixed(1)} %  ${score.seen} of ${score.all} mutants seen`);
  process.stdout.write(`${drawnFrom}; at least ${leastPercent} %\n`);
  return percent >= leastPercent;
}

const { values } = parseArgs({
  options: {
    room: { type: 'string', multiple: true },
    file: { type: 'string' },
    sample: { type: 'string', default: '300' },
    all: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});
const sources = listSources();
const { file } = values;
const rooms = values.room?.map(roomNamed) ?? mutatedRooms;
const wanted = rooms
  .map(({ name }) => ({ name, files: filesOfRoom(name, sources).filter((path) => path === (file ?? path)) }))
  .filter(({ files }) => files.length > 0);
const copy = mkdtempSync(join(tmpdir(), 'mediabatch-mutation-'));
try {
  makeCopy(copy);
  process.exitCode = wanted.length > 0 ? 0 : 1;
  for (const { name, files } of wanted) {
    const isGood = await mutate(copy, name, files).catch((error: Error) => {
      process.stdout.write(`${name}: ${error.message}\n`);
      return false;
    });
    if (!isGood) process.exitCode = 1;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
