import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../rig/command.ts';

let folder: string;
const exampleFile = 'use.mts';
const shortFile = 'use-briefly.mts';

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
  writeFileSync(join(folder, exampleFile), readExample('src/manual/library.md'));
  writeFileSync(join(folder, shortFile), readExample('README.md'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** Each file that is published is of one of these; what is none of them was not meant to be. */
const published = [
  /^dist\/SKILL\.md$/,
  /^(?:CHANGELOG|README)\.md$|^LICENSE$|^package\.json$/,
  /^schemas\/[a-z]+\.schema\.json$/,
  /^examples\/[a-z-]+\/(?:[\w.-]+\/)*[\w-]+\.(?:yaml|yml|csv|tsv|jsonl?|schema\.json|xlsx|png|jpg|md|webm|wav|mp3|txt)$/,
  /^examples\/engine\/(?:Dockerfile|worker\.env\.example|mediabatch-worker@\.service)$/,
  /^dist\/THIRD-PARTY-NOTICES\.txt$/,
  /^dist\/(?:index|cli\/bin|sandbox\/index|sandbox\/render-worker|chunks\/[\w-]+)\.js$/,
  /^dist\/(?:[\w-]+\/)*[\w.-]+\.d\.ts$/,
  /^dist\/(?:manual|report\/diagnostics\/code-pages)\/\w+\.md$/,
  /^dist\/page\/[\w-]+\.(?:js|css|html|svg)$/,
  /^dist\/sandbox\/assets\/[\w.-]+$/,
  /^dist\/review\/sheet\/fonts\/(?:fonts\.conf|[\w.-]+\.(?:ttf|LICENSE\.txt))$/,
];

test('nothing is published that is not meant to be', () => {
  const files = readdirSync(join(folder, 'node_modules/mediabatch'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      relative(join(folder, 'node_modules/mediabatch'), join(parentPath, name)).replaceAll('\\', '/'),
    );
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => !published.some((form) => form.test(file)))).toEqual([]);
});

/** What README or the manual shows to whoever writes a program. */
function readExample(of: 'README.md' | 'src/manual/library.md'): string {
  const text = readFileSync(join(root, of), 'utf8');
  const [, example] = /```ts\n([\s\S]*?)```/.exec(text) ?? [];
  if (example === undefined) throw new Error(`${of} has no example of the library`);
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

test('the examples of the manual and README compile with every check, and run: a campaign is bought once', () => {
  compile(shortFile);
  const { MEDIABATCH_API_KEY: _key, MEDIABATCH_BASE_URL: _url, ...env } = process.env;
  const run = (file = exampleFile) =>
    execFileSync(process.execPath, [file.replace('.mts', '.mjs')], { cwd: folder, encoding: 'utf8', env });
  const first = run();
  expect(first).toMatch(/^15 steps, /);
  expect(first).toContain('cover done\n');
  expect(first).toMatch(/exit 0, 36 credits spent\n$/);
  const saved = readdirSync(join(folder, 'campaign.sandbox'), { recursive: true, encoding: 'utf8' });
  expect(saved.filter((path) => /\.(png|mp3)$/.test(path))).toHaveLength(15);
  const again = run();
  expect(again).toContain('15 steps, 0 credits');
  expect(again).toMatch(/exit 0, 0 credits spent\n$/);
  expect(run(shortFile)).toBe('exit 0, 0 credits spent\n');
}, 60_000);

test('the package carries a skill: the page for programs at the keys, whose commands and names stand for themselves', () => {
  const find = `process.stdout.write(import.meta.resolve('mediabatch/SKILL.md'))`;
  const url = execFileSync(process.execPath, ['--input-type=module', '-e', find], { cwd: folder, encoding: 'utf8' });
  const skill = readFileSync(new URL(url), 'utf8');
  expect(skill).toMatch(/^---\nname: mediabatch\ndescription: \S.{50,900}\n---\n\n# /);
  expect(skill).toContain('mediabatch approve campaign.plan.json');
  expect(skill).not.toMatch(/\]\(|not-run/);
});
