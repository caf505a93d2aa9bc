import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { images } from '../rig/campaign.ts';
import { command, root, temporaryFolder } from '../rig/command.ts';

const preload = new URL('../rig/note-loads.mjs', import.meta.url).href;
const packages = ['pg', 'pg-boss', 'aws4fetch'];
/** Stands only in the code of the room `cluster`. */
const ours = /mediabatch_queue|mediabatch_work|mediabatch\.meta/;
const nowhere = { MEDIABATCH_ENGINE: 'postgres://me:hidden-word@127.0.0.1:1/none' };

describe('packages of runs on an engine', () => {
  let cwd: string;
  beforeEach(() => {
    const { path, remove } = temporaryFolder();
    onTestFinished(remove);
    cwd = path;
    writeFileSync(join(cwd, 'campaign.yaml'), images(1));
  });

  /** What of them, and of the code for them, a command loads. */
  async function loadedBy(args: string[]): Promise<string[]> {
    const file = join(cwd, 'loads');
    const { code, err } = await command(args, { cwd, preload, env: { LOADS_NOTED_IN: file } });
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
    const urls = readFileSync(file, 'utf8').trim().split('\n');
    expect(urls.some((url) => url.includes('/dist/'))).toBe(true);
    return urls.filter((url) => {
      if (!url.startsWith('file:')) return false;
      const isPackage = packages.some((name) => url.includes(`/node_modules/${name}/`));
      return isPackage || (url.includes('/dist/') && ours.test(readFileSync(fileURLToPath(url), 'utf8')));
    });
  }

  test.each([
    [['--version']],
    [['validate', 'campaign.yaml']],
    [['apply', 'campaign.yaml', '--sandbox', '--sandbox-speed', '1000', '--yes']],
  ])('are not loaded by %j', async (args) => {
    expect(await loadedBy(args)).toEqual([]);
  });

  test('that are missing are named with their install command', async () => {
    const env = { ...nowhere, LOADS_MISSING: 'pg' };
    const { code, err } = await command(['workers'], { cwd, preload, env });
    expect(code).toBe(64);
    expect(err).toContain('npm i pg@8.23.1 pg-boss@12.35.0');
  });

  test('an engine that cannot be reached ends with 69, and its password is shown nowhere', async () => {
    const { code, out, err } = await command(['workers'], { cwd, preload, env: nowhere });
    expect(code).toBe(69);
    expect(err).toContain('postgres://me@127.0.0.1:1/none');
    expect(out + err).not.toContain('hidden-word');
  });
});

test('the versions that are named are those of package.json', () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const text = readFileSync(join(root, 'src/cluster/load-packages.ts'), 'utf8');
  for (const name of packages) expect(text).toContain(`'${peerDependencies[name]}'`);
});
