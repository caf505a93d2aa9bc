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

function makeCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'mediabatch-controls-'));
  for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  build(copy);
  return copy;
}

/** Without the type check: a control may leave a name unused. */
function build(copy: string): void {
  const compile = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'src/tsconfig.json', '--noCheck'];
  execFileSync(process.execPath, compile, { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync(process.execPath, ['schemas/copy-assets.mjs'], { cwd: copy, stdio: 'ignore' });
}

async function runTest(copy: string, { file, title }: Shown): Promise<Verdict> {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const name = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const vitest = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config',
    'test/vitest.config.ts',
    file,
    '-t',
    `${name}$`,
  ];
  const files = join(copy, 'files');
  const child = spawn(process.execPath, [...vitest, '--reporter', 'json', '--outputFile', report], {
    cwd: copy,
    env: { ...process.env, MEDIABATCH_TEST_NO_BUILD: '1', MEDIABATCH_TEST_LONG: '1', MEDIABATCH_TEST_FILES: files },
    stdio: 'ignore',
  });
  await new Promise((resolve) => child.on('close', resolve));
  return readReport(report);
}

interface Report {
  testResults: { assertionResults: { status: string; failureMessages?: string[] }[] }[];
}

/** A file that cannot even be loaded has no results: that proves nothing. */
function readReport(path: string): Verdict {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch {
    return { is: 'not run', says: 'vitest left no report' };
  }
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.find(({ status }) => status === 'failed');
  if (failed !== undefined) return { is: 'failed', says: failed.failureMessages?.[0]?.split('\n')[0] ?? '' };
  if (results.some(({ status }) => status === 'passed')) return { is: 'passed', says: '' };
  return { is: 'not run', says: 'no test of this title ran' };
}

async function tryControl(copy: string, control: Control): Promise<string | undefined> {
  const path = join(copy, control.file);
  const text = readFileSync(path, 'utf8');
  const without = switchOff(text, control.mark, control.switch);
  const before = await runTest(copy, control.seenBy);
  if (before.is !== 'passed') return `with everything in place the test is “${before.is}”: ${before.says}`;
  try {
    writeFileSync(path, without);
    if (control.built) build(copy);
    const after = await runTest(copy, control.seenBy);
    return after.is === 'failed' ? undefined : `without it the test is “${after.is}” ${after.says}`;
  } finally {
    writeFileSync(path, text);
    if (control.built) build(copy);
  }
}

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const wanted = controls.filter((control) => values.only?.includes(invariantOf(control)) ?? true);
const waiting = [...wanted];
let seen = 0;
const began = Date.now();

async function work(): Promise<void> {
  const copy = makeCopy();
  try {
    for (let control = waiting.shift(); control !== undefined; control = waiting.shift()) {
      const problem = await tryControl(copy, control);
      if (problem === undefined) seen += 1;
      const mark = problem === undefined ? 'seen    ' : 'NOT SEEN';
      process.stdout.write(
        `${mark} ${invariantOf(control).padEnd(3)} ${control.off}${problem ? `: ${problem}` : ''}\n`,
      );
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

await Promise.all(Array.from({ length: copiesAtATime }, work));
process.stdout.write(`${wanted.length} controls, ${seen} seen, in ${Math.round((Date.now() - began) / 1000)} s\n`);
process.exitCode = seen === wanted.length && wanted.length > 0 ? 0 : 1;
