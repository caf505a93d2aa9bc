/**
 * `npm run release -- --check`: what is missing for a release. `--offline` does not ask the registry. `--notes` prints what the
 * changelog says of this version.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { releasedVersions } from '../../released/read-sets.ts';
import { root } from '../../rig/command.ts';
import { findMissing, notesOf, type ReleaseFacts } from './missing.ts';

const read = (name: string) => readFileSync(join(root, name), 'utf8');
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
const git = (...args: string[]) => linesOf(execFileSync('git', args, { cwd: root, encoding: 'utf8' }));
const own = JSON.parse(read('package.json')) as ReleaseFacts['package'];

function askRegistry(): string | null | undefined {
  const { status, stdout } = spawnSync('npm', ['view', own.name, 'repository.url', '--json'], { encoding: 'utf8' });
  const answer = (stdout === '' ? null : JSON.parse(stdout)) as string | { error?: { code?: string } } | null;
  if (status === 0) return typeof answer === 'string' ? answer : 'no repository that it names';
  if (typeof answer === 'object' && answer?.error?.code === 'E404') return null;
  process.stderr.write('The registry gave no answer: who has the name is not known.\n');
  return undefined;
}

function check({ offline }: { offline: boolean }): void {
  const registered = offline ? undefined : askRegistry();
  const files = ['.github/CODEOWNERS', '.github/SECURITY.md'].filter((file) => existsSync(join(root, file)));
  const missing = findMissing({
    package: own,
    changelog: read('CHANGELOG.md'),
    tags: git('tag', '--points-at', 'HEAD'),
    changed: git('status', '--porcelain').map((line) => line.slice(3)),
    sets: releasedVersions,
    owners: Object.fromEntries(files.map((file) => [file, read(file)])),
    ...(registered !== undefined && { registered }),
  });
  for (const { what, todo } of missing) process.stdout.write(`missing  ${what}\n         ${todo}\n`);
  process.stdout.write(
    missing.length === 0
      ? `${own.name} ${own.version}: nothing is missing\n`
      : `${own.name} ${own.version}: ${missing.length} missing\n`,
  );
  process.exitCode = missing.length === 0 ? 0 : 1;
}

const words = process.argv.slice(2);
if (words.includes('--check')) {
  check({ offline: words.includes('--offline') });
} else if (words.includes('--notes')) {
  const notes = notesOf(own.version, read('CHANGELOG.md'));
  if (notes === undefined) throw new Error(`CHANGELOG.md has no section of ${own.version}`);
  process.stdout.write(notes);
} else {
  process.stderr.write('npm run release -- --check [--offline] | --notes\n');
  process.exitCode = 64;
}
