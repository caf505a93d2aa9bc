import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../rig/command.ts';

let folder: string;
const exampleFile = 'use.mts';

/** The package as it is published, unpacked where a program that uses it would have it. Its dependencies are the ones here. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mediabatch-library-'));
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, 'mediabatch'), { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, packed.trim()), '-C', join(modules, 'mediabatch'), '--strip-components=1']);
  const { dependencies } = JSON.parse(readFileSync(join(modules, 'mediabatch', 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  cpSync(join(root, 'examples', 'quickstart'), folder, {
    recursive: true,
    filter: (path) => !/\.sandbox|\.mediabatch|\.lock\.jsonl/.test(path),
  });
  writeFileSync(join(folder, exampleFile), readExample());
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What README shows to whoever writes a program. */
function readExample(): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, example] = /## As a library\n[\s\S]*?```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  if (example === undefined) throw new Error('README has no example of the library');
  return example;
}

function compile(...more: string[]): void {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false'];
  const target = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023', '--types', 'node'];
  execFileSync(process.execPath, [compiler, ...strict, ...target, ...more, exampleFile], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

test('the example of README compiles with every check, and runs: a campaign is bought once', () => {
  compile();
  const { MEDIABATCH_API_KEY: _key, MEDIABATCH_BASE_URL: _url, ...env } = process.env;
  const run = () =>
    execFileSync(process.execPath, [exampleFile.replace('.mts', '.mjs')], { cwd: folder, encoding: 'utf8', env });
  const first = run();
  expect(first).toMatch(/^15 steps, /);
  expect(first).toContain('cover done\n');
  expect(first).toMatch(/exit 0, 36 credits spent\n$/);
  const saved = readdirSync(join(folder, 'campaign.sandbox'), { recursive: true, encoding: 'utf8' });
  expect(saved.filter((path) => /\.(png|mp3)$/.test(path))).toHaveLength(15);
  const again = run();
  expect(again).toContain('15 steps, 0 credits');
  expect(again).toMatch(/exit 0, 0 credits spent\n$/);
}, 60_000);
