import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Control, controls, invariantOf, type Shown } from '../invariants/register.ts';
import { switchOff } from './marks.ts';
import type { Ask, Seen } from './serve-tests.ts';

// Each protection is switched off in a copy of the tree; the test that watches over it must then fail – and pass before.
//   npm run test:controls [-- --only I7] [--core] [--after-tests]
// `--core` takes those of money that need no build, for `.ci/run`.
// `--after-tests` says that all of them have passed just now: they are not run once more with everything in place.

const root = fileURLToPath(new URL('../../..', import.meta.url));
const copied = ['src', 'test', 'schemas', 'examples', 'package.json', 'tsconfig.json', 'CHANGELOG.md', 'README.md'];
const copiesAtATime = 2;
/** What could be paid twice, lost, or bought without a consent. */
const ofMoney = [1, 2, 3, 4, 7, 9, 12, 13, 14, 15, 20, 21, 22, 23, 24, 27, 39, 40, 41, 42, 43, 44].map(
  (id) => `I${id}`,
);

type Verdict = { is: 'passed' | 'failed' | 'not run'; says: string };

function makeCopy(from = root, names = copied): string {
  const copy = mkdtempSync(join(tmpdir(), 'mediabatch-controls-'));
  for (const name of names) cpSync(join(from, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** As it is shipped, without the type check: a control may leave a name unused. */
function build(copy: string): void {
  for (const script of ['schemas/copy-assets.mjs', 'schemas/bundle.mjs']) {
    execFileSync(process.execPath, [script], { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'] });
  }
}

/** The tests of a copy: one vitest for all of them, in a process of its own. */
class Tests {
  readonly #child: ChildProcess;
  #altered: string[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(copy: string): Promise<Tests> {
    const child = fork(join(copy, 'test/proof/controls/serve-tests.ts'), {
      cwd: copy,
      execArgv: ['--import', 'tsx'],
      env: {
        ...process.env,
        ...{ MEDIABATCH_TEST_NO_BUILD: '1', MEDIABATCH_TEST_LONG: '1', MEDIABATCH_TEST_APART: '1' },
        // What is missing is found by a draw.
        MEDIABATCH_TEST_RUNS: 'full',
      },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const tests = new Tests(child);
    await tests.#answer();
    return tests;
  }

  /** Has a source loaded anew by the tests that run next. */
  changed(file: string): void {
    this.#altered.push(file);
  }

  /** Runs these tests, in one go, and says of each what became of it. */
  async run(tests: readonly Shown[]): Promise<(test: Shown) => Verdict> {
    this.#child.send({ tests, altered: this.#altered } satisfies Ask);
    this.#altered = [];
    const seen = await this.#answer();
    return (test) => judge(seen, test);
  }

  end(): void {
    this.#child.disconnect();
  }

  /** Nothing, where the process has ended. */
  #answer(): Promise<readonly Seen[]> {
    return new Promise((resolve) => {
      const ended = () => resolve([]);
      this.#child.once('exit', ended);
      this.#child.once('message', (seen) => {
        this.#child.off('exit', ended);
        resolve(seen as Seen[]);
      });
    });
  }
}

/** A file that cannot even be loaded has no results: that proves nothing. */
function judge(seen: readonly Seen[], { file, title }: Shown): Verdict {
  const results = seen.filter((test) => test.file === file && test.title.includes(title));
  const failed = results.find(({ state }) => state === 'failed');
  if (failed !== undefined) return { is: 'failed', says: failed.message };
  if (results.some(({ state }) => state === 'passed')) return { is: 'passed', says: '' };
  return { is: 'not run', says: seen.find(({ state }) => state === 'not run')?.message ?? 'no test of this title ran' };
}

interface Copy {
  folder: string;
  tests: Tests;
}

/** What is built stays without the protection until the next control that needs it. */
async function tryControl({ folder, tests }: Copy, control: Control): Promise<string | undefined> {
  const path = join(folder, control.file);
  const text = readFileSync(path, 'utf8');
  try {
    writeFileSync(path, switchOff(text, control.mark, control.switch));
    if (control.built) build(folder);
    tests.changed(control.file);
    const after = (await tests.run([control.seenBy]))(control.seenBy);
    return after.is === 'failed' ? undefined : `without it the test is “${after.is}” ${after.says}`;
  } finally {
    writeFileSync(path, text);
    tests.changed(control.file);
  }
}

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, core: { type: 'boolean' }, 'after-tests': { type: 'boolean' } },
});
const asked = values.only ?? (values.core ? ofMoney : undefined);
const wanted = controls.filter(
  (control) => (asked?.includes(invariantOf(control)) ?? true) && !(values.core && control.built),
);
// Those that look at what is built come last: what is built is then no more what stands in the sources.
const waiting = [...wanted.filter(({ built }) => !built), ...wanted.filter(({ built }) => built)];
let seen = 0;
const began = Date.now();

const folders = [makeCopy()];
const copies: Copy[] = [];
try {
  const [first = ''] = folders;
  build(first);
  for (let count = 1; count < copiesAtATime; count += 1) folders.push(makeCopy(first, [...copied, 'dist']));
  for (const folder of folders) copies.push({ folder, tests: await Tests.start(folder) });
  const whole: Verdict = { is: 'passed', says: '' };
  const before = values['after-tests'] ? () => whole : await copies[0]?.tests.run(wanted.map(({ seenBy }) => seenBy));
  const work = async (copy: Copy) => {
    for (let control = waiting.shift(); control !== undefined; control = waiting.shift()) {
      const { is, says } = before?.(control.seenBy) ?? { is: 'not run', says: '' };
      const broken = is === 'passed' ? undefined : `with everything in place the test is “${is}”: ${says}`;
      const problem = broken ?? (await tryControl(copy, control));
      if (problem === undefined) seen += 1;
      const verdict = problem === undefined ? 'seen    ' : 'NOT SEEN';
      const invariant = invariantOf(control).padEnd(3);
      process.stdout.write(`${verdict} ${invariant} ${control.off}${problem ? `: ${problem}` : ''}\n`);
    }
  };
  await Promise.all(copies.map(work));
} finally {
  for (const { tests } of copies) tests.end();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
process.stdout.write(`${wanted.length} controls, ${seen} seen, in ${Math.round((Date.now() - began) / 1000)} s\n`);
process.exitCode = seen === wanted.length && wanted.length > 0 ? 0 : 1;
