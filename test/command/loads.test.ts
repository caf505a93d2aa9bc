import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeEngineNote } from '../../src/disk/lock/engine-note.ts';
import { images } from '../rig/campaign.ts';
import { command, expectExit, root } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';

const packages = ['pg', 'pg-boss', 'aws4fetch'];

describe('loads', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));

  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mediabatch-loads-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  /** Runs the built command and gives the sources and packages that it loaded: each built file names what it holds. */
  function findLoaded(args: string[], cwd = root): string[] {
    execFileSync(process.execPath, [join(root, 'dist/cli/bin.js'), ...args], {
      cwd,
      env: { ...process.env, NODE_V8_COVERAGE: folder },
      stdio: 'ignore',
    });
    const urls = readdirSync(folder).flatMap((name) => {
      const report = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] };
      return report.result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
    });
    const names = urls.flatMap((url) => {
      const path = fileURLToPath(url);
      const held = readFileSync(path, 'utf8').matchAll(/^\s*\/\/ (?:.*\/)?((?:src|node_modules)\/\S+)$/gm);
      return [path, ...[...held].map(([, name]) => name ?? '')];
    });
    return [...new Set(names)];
  }

  const packagesIn = (names: string[]) => [
    ...new Set(names.flatMap((name) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name)?.[1] ?? [])),
  ];

  test('--version loads one file and no package', () => {
    const loaded = findLoaded(['--version']);
    expect(loaded.filter((name) => name.endsWith('.js'))).toEqual([join(root, 'dist/cli/bin.js')]);
    expect(packagesIn(loaded)).toEqual([]);
  });

  test('--help loads commander and no command', () => {
    const loaded = findLoaded(['--help']);
    expect(packagesIn(loaded)).toEqual(['commander']);
    expect(loaded.filter((name) => /src\/(cli\/commands|engine|run|service|sandbox|manifest)\//.test(name))).toEqual(
      [],
    );
  });

  test('validate loads the readers of a manifest, and no HTTP client, screen or server', () => {
    const loaded = findLoaded(['validate', 'examples/quickstart/campaign.yaml']);
    expect(packagesIn(loaded)).toEqual(expect.arrayContaining(['yaml', 'handlebars']));
    const heavy = ['ajv', 'ajv-formats', 'fflate', 'listr2', 'mediainfo.js', 'p-queue', 'read-excel-file'];
    expect(packagesIn(loaded).filter((name) => heavy.includes(name))).toEqual([]);
    // What a credential is, and nothing that sends it.
    const sending = loaded.filter((name) => /src\/(engine|service|sandbox|review|page)\//.test(name));
    expect(sending.filter((name) => name !== 'src/service/secrets.ts')).toEqual([]);
    const commands = loaded.filter((name) => /src\/cli\/commands\//.test(name));
    expect(commands).toEqual(['src/cli/commands/validate.ts']);
    // Each file costs: what is always loaded together is one.
    expect(loaded.filter((name) => /^[/\\].*dist.*\.js$/.test(name)).length).toBeLessThanOrEqual(6);
  });

  test('a run without an engine loads no engine module', () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, 'campaign.yaml'), images(1));
    const loaded = findLoaded(['apply', 'campaign.yaml', '--sandbox', '--sandbox-speed', '1000', '--yes'], cwd);
    expect(loaded).toContainEqual(expect.stringMatching(/src\/engine\//));
    expect(packagesIn(loaded).filter((name) => packages.includes(name))).toEqual([]);
    expect(loaded.filter((name) => name.includes('src/cluster/'))).toEqual([]);
  });

  describe.skipIf(!('enableCompileCache' in module))('compiled code', () => {
    const own = () => join(folder, 'mediabatch', 'code');
    const validate = (env: Record<string, string>) => {
      const args = [join(root, 'dist/cli/bin.js'), 'validate', 'examples/quickstart/campaign.yaml'];
      execFileSync(process.execPath, args, { cwd: root, env: { ...env, XDG_CACHE_HOME: folder }, stdio: 'ignore' });
    };

    test('is stored for the next start, in a folder that other users cannot enter', () => {
      validate({});
      const kept = readdirSync(own(), { recursive: true });
      expect(kept.length).toBeGreaterThan(3);
      expect(statSync(own()).mode & 0o077).toBe(0);
    });

    test('is neither read nor written in a folder that other users can write to', () => {
      mkdirSync(own(), { recursive: true });
      chmodSync(own(), 0o777);
      validate({});
      expect(readdirSync(own())).toEqual([]);
    });

    test('is not stored if the environment of Node disables it', () => {
      validate({ NODE_DISABLE_COMPILE_CACHE: '1' });
      expect(readdirSync(folder)).toEqual([]);
    });
  });
});

const preload = new URL('../rig/missing-package.mjs', import.meta.url).href;

test('a missing package of an engine is reported with its install command', async () => {
  const env = { MEDIABATCH_ENGINE: 'postgres://me:hidden-word@127.0.0.1:1/none', MISSING_PACKAGE: 'pg' };
  const { code, err } = await command(['workers'], { cwd: makeFolder(), preload, env });
  expect(code).toBe(64);
  expect(err).toContain('npm i pg@8.23.1 pg-boss@12.35.0');
});

test('the versions that are named are those of package.json', () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const text = readFileSync(join(root, 'src/cluster/load-packages.ts'), 'utf8');
  for (const name of packages) expect(text).toContain(`'${peerDependencies[name]}'`);
});

test('status names the engine that has the run, and so do its commands', async () => {
  const cwd = makeFolder();
  writeFileSync(join(cwd, 'campaign.yaml'), images(1));
  const engine = 'postgres://me@db:5432/x';
  const since = '2026-01-01T00:00:00.000Z';
  const note = { run: 'r', account: 'a', engine, since, submitted: true };
  await writeEngineNote(join(cwd, 'campaign.lock.jsonl'), note);
  const { code, out, err } = await command(['status', 'campaign.yaml'], { cwd });
  expect(code).toBe(0);
  expect(err.replace(/ at \d{4}-\d\d-\d\d \d\d:\d\d/, '')).toBe(
    `a run was submitted to ${engine}; to include its progress: mediabatch status campaign.yaml --engine ${engine}\n`,
  );
  for (const line of out.split('\n').filter((one) => one.includes('mediabatch apply')))
    expect(line).toContain(`--engine ${engine}`);
  const named = await expectExit(
    0,
    command(['status', 'campaign.yaml'], {
      cwd,
      env: {
        MEDIABATCH_ENGINE: 'postgres://me:hidden-word@127.0.0.1:1/none',
        MEDIABATCH_API_KEY: 'k',
        MEDIABATCH_BASE_URL: 'http://127.0.0.1:1/api/v1',
      },
    }),
  );
  expect(named.err).toContain('the status below does not include the progress of the run: ');
  expect(named.err).not.toContain('hidden-word');
});
