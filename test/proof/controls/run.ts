import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Shown } from '../invariants/register.ts';
import { type Control, controls, invariantOf } from './controls.ts';
import { switchOff } from './marks.ts';

// Each protection is switched off in a copy of the tree; the test that watches over it must then fail – and pass before.
//   npm run test:controls [-- --only I7]

const root = fileURLToPath(new URL('../../..', import.meta.url));
const copied = ['src', 'test', 'schemas', 'examples', 'package.json', 'tsconfig.json', 'CHANGELOG.md', 'README.md'];
const copiesAtATime = 2;

type Verdict = { is: 'passed' | 'failed' | 'not run'; says: string };

function makeCopy(from = root, names = copied): string {
  const copy = mkdtempSync(join(tmpdir(), 'mediabatch-controls-'));
  for (const name of names) cpSync(join(from, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Without the type check: a control may leave a name unused. */
function build(copy: string): void {
  const compile = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'src/tsconfig.json', '--noCheck'];
  execFileSync(process.execPath, compile, { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync(process.execPath, ['schemas/copy-assets.mjs'], { cwd: copy, stdio: 'ignore' });
}

/** Runs these tests, in one go, and says of each what became of it. */
async function runTests(copy: string, tests: readonly Shown[]): Promise<(test: Shown) => Verdict> {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const quote = (title: string) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const names = [...new Set(tests.map(({ title }) => quote(title)))].join('|');
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/vitest.config.ts'];
  const only = [...new Set(tests.map(({ file }) => file)), '-t', `(${names})$`];
  const files = join(copy, 'files');
  const child = spawn(process.execPath, [...vitest, ...only, '--reporter', 'json', '--outputFile', report], {
    cwd: copy,
    env: { ...process.env, MEDIABATCH_TEST_NO_BUILD: '1', MEDIABATCH_TEST_LONG: '1', MEDIABATCH_TEST_FILES: files },
    stdio: 'ignore',
  });
  await new Promise((resolve) => child.on('close', resolve));
  const read = readReport(report);
  return (test) => judge(read, test);
}

interface Report {
  testResults: {
    name: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[];
  }[];
}

function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

/** A file that cannot even be loaded has no results: that proves nothing. */
function judge(report: Report | undefined, { file, title }: Shown): Verdict {
  if (report === undefined) return { is: 'not run', says: 'vitest left no report' };
  const results = report.testResults
    .filter(({ name }) => name.endsWith(`/${file}`))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ fullName }) => fullName.endsWith(title));
  const failed = results.find(({ status }) => status === 'failed');
  if (failed !== undefined) return { is: 'failed', says: failed.failureMessages?.[0]?.split('\n')[0] ?? '' };
  if (results.some(({ status }) => status === 'passed')) return { is: 'passed', says: '' };
  return { is: 'not run', says: 'no test of this title ran' };
}

/** What is built stays without the protection until the next control that needs it. */
async function tryControl(copy: string, control: Control): Promise<string | undefined> {
  const path = join(copy, control.file);
  const text = readFileSync(path, 'utf8');
  try {
    writeFileSync(path, switchOff(text, control.mark, control.switch));
    if (control.built) build(copy);
    const after = (await runTests(copy, [control.seenBy]))(control.seenBy);
    return after.is === 'failed' ? undefined : `without it the test is “${after.is}” ${after.says}`;
  } finally {
    writeFileSync(path, text);
  }
}

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const wanted = controls.filter((control) => values.only?.includes(invariantOf(control)) ?? true);
// Those that look at what is built come last: what is built is then no more what stands in the sources.
const waiting = [...wanted.filter(({ built }) => !built), ...wanted.filter(({ built }) => built)];
let seen = 0;
const began = Date.now();

const copies = [makeCopy()];
try {
  const [first = ''] = copies;
  build(first);
  const before = await runTests(
    first,
    wanted.map(({ seenBy }) => seenBy),
  );
  for (let count = 1; count < copiesAtATime; count += 1) copies.push(makeCopy(first, [...copied, 'dist']));
  const work = async (copy: string) => {
    for (let control = waiting.shift(); control !== undefined; control = waiting.shift()) {
      const { is, says } = before(control.seenBy);
      const whole = is === 'passed' ? undefined : `with everything in place the test is “${is}”: ${says}`;
      const problem = whole ?? (await tryControl(copy, control));
      if (problem === undefined) seen += 1;
      const verdict = problem === undefined ? 'seen    ' : 'NOT SEEN';
      const invariant = invariantOf(control).padEnd(3);
      process.stdout.write(`${verdict} ${invariant} ${control.off}${problem ? `: ${problem}` : ''}\n`);
    }
  };
  await Promise.all(copies.map(work));
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}
process.stdout.write(`${wanted.length} controls, ${seen} seen, in ${Math.round((Date.now() - began) / 1000)} s\n`);
process.exitCode = seen === wanted.length && wanted.length > 0 ? 0 : 1;
