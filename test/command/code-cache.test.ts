import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mediabatch-code-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function validate(env: Record<string, string> = {}): string {
  const args = [join(root, 'dist/cli/bin.js'), 'validate', 'examples/quickstart/campaign.yaml'];
  const without = { ...process.env, NODE_V8_COVERAGE: undefined, NODE_DISABLE_COMPILE_CACHE: undefined };
  return execFileSync(process.execPath, args, {
    cwd: root,
    env: { ...without, NODE_COMPILE_CACHE: folder, ...env },
    encoding: 'utf8',
  });
}

const findFiles = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes('mediabatch-code-'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.endsWith('.bin'))
    .sort();

const ownFolder = () => join(folder, `mediabatch-code-${process.getuid?.() ?? 'user'}`);

test('compiled code is kept for the next run, for nobody else', () => {
  const first = validate();
  const kept = findFiles();
  expect(kept.map((path) => path.split('/').at(-1))).toEqual(['campaign.bin', 'main.bin', 'recall.bin']);
  if (process.getuid !== undefined) expect(statSync(ownFolder()).mode & 0o777).toBe(0o700);
  const times = kept.map((path) => statSync(path).mtimeMs);
  expect(validate()).toBe(first);
  expect(findFiles().map((path) => statSync(path).mtimeMs)).toEqual(times);
});

test.each([
  ['with a byte changed', (bytes: Buffer) => bytes.fill(bytes.readUInt8(5000) ^ 1, 5000, 5001)],
  ['cut off', (bytes: Buffer) => bytes.subarray(0, 5000)],
  ['empty', () => Buffer.alloc(0)],
  ['all zeros', (bytes: Buffer) => Buffer.alloc(bytes.length)],
])('compiled code %s is not used, and made again', (_name, spoil) => {
  const first = validate();
  const good = findFiles().map((path) => statSync(path).size);
  for (const path of findFiles()) writeFileSync(path, spoil(readFileSync(path)));
  const spoilt = findFiles().map((path) => readFileSync(path));
  expect(validate()).toBe(first);
  findFiles().forEach((path, index) => {
    expect(readFileSync(path).equals(spoilt[index] ?? Buffer.alloc(0))).toBe(false);
  });
  expect(findFiles()).toHaveLength(good.length);
});

test.skipIf(process.getuid === undefined)('a folder that others may write is neither read nor written', () => {
  mkdirSync(ownFolder());
  chmodSync(ownFolder(), 0o777);
  validate();
  expect(findFiles()).toEqual([]);
});

test('nothing is kept where Node was told to keep nothing, or cannot', () => {
  const first = validate({ NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(findFiles()).toEqual([]);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(validate({ NODE_COMPILE_CACHE: file })).toBe(first);
});
