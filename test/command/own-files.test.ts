import { execFileSync } from 'node:child_process';
import { cpSync, lstatSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { CampaignPaths } from '../../src/campaign/paths.ts';
import { bugReport } from '../../src/cli/main.ts';
import { makeRecorder } from '../../src/cli/recorder.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { makeFolder } from '../rig/folder.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { manifest, products, workplaceForEach } from './in-process.ts';

describe('own files', () => {
  const place = workplaceForEach();

  async function bought(): Promise<void> {
    place.write('campaign.yaml', manifest);
    place.write('products.csv', products);
    await place.run('plan', '--sandbox', '--out', 'x.plan.json');
    place.write('printed.json', (await place.run('plan', '--json')).out);
    place.write(
      'gated.yaml',
      'version: 1\nname: g\ntasks: { a: { kind: image, gate: approve, with: { prompt: a } } }\n',
    );
    place.write('gated.json', (await place.run('plan', 'gated.yaml', '--json')).out);
    place.write('campaign.sandbox.lock.jsonl', '{"mediabatch":"lock","version":2}\n');
    place.write('spring.lock.jsonl', '{"mediabatch":"lock","version":2}\n');
  }

  test('a saved plan or a lock in place of a manifest is recognized, and the right command is printed', async () => {
    await bought();
    for (const line of ['plan', 'validate', 'status', 'gc', 'pin', 'explain hero hero@lamp']) {
      const [command = '', ...rest] = line.split(' ');
      const said = async (file: string) => {
        const { code, err } = await place.run(command, file, ...rest.slice(1));
        expect(code, line).toBe(65);
        return err;
      };
      expect(await said('x.plan.json')).toContain('x.plan.json is a plan, not a manifest');
      expect(await said('x.plan.json')).toMatch(
        /to apply a saved plan: mediabatch apply x\.plan\.json\n +name the manifest of the campaign\n/,
      );
      expect(await said('gated.json')).toContain('gated.json is a plan, not a manifest');
      expect(await said('spring.lock.jsonl')).toContain('is the lock of a campaign, not a manifest');
    }
    expect((await place.run('apply', 'spring.lock.jsonl')).err).toContain('name the manifest of the campaign');
  });

  test('a manifest in JSON is a manifest', async () => {
    place.write(
      'campaign.json',
      '{ "version": 1, "name": "x", "tasks": { "a": { "kind": "image", "with": { "prompt": "x", "resolution": "1k" }, "save": "a" } } }',
    );
    expect(await place.run('validate', 'campaign.json')).toMatchObject({ code: 0 });
  });
});

const root = fileURLToPath(new URL('../..', import.meta.url));

test.skipIf(process.platform === 'win32')('with umask 000, no other user can write to the files of a run', () => {
  const folder = makeFolder();
  cpSync(join(root, 'examples/quickstart/campaign.yaml'), join(folder, 'campaign.yaml'));
  cpSync(join(root, 'examples/quickstart/products.csv'), join(folder, 'products.csv'));
  const command = [process.execPath, join(root, 'dist/cli/bin.js'), 'apply', '--sandbox', '--yes'];
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
  execFileSync('sh', ['-c', 'umask 000; exec "$0" "$@"', ...command], { cwd: folder, env, stdio: 'ignore' });
  const written = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(written).toContain('campaign.sandbox.lock.jsonl');
  const open = written.filter((name) => {
    const stats = lstatSync(join(folder, name));
    return !stats.isSymbolicLink() && (stats.mode & 0o002) !== 0;
  });
  expect(open.filter((name) => name !== 'campaign.yaml' && name !== 'products.csv')).toEqual([]);
});

test('a bug report contains version, machine, command and stack, and no user data', () => {
  const error = new Error(`no row for "a red lamp for Ada" in ${join(homedir(), 'secret/campaign.yaml')}`);
  error.stack += `\n    at load (/srv/client/campaign.ts:3:1)\n    at next (${join(process.cwd(), 'dist/cli/main.js')}:1:2)`;
  const [first, command, ...stack] = bugReport(error, [
    'apply',
    'secret.yaml',
    '--yes',
    '--var=key=sk_live_1',
    '-s',
    'hero',
  ]);
  expect(first).toMatch(/^mediabatch \d+\.\d+\.\d+, Node v\d+.*, \w+ \w+$/);
  expect(command).toBe('command: apply --yes --var -s');
  const text = stack.join('\n');
  expect(text).toContain('Error: no row for "…" in <home>/secret/campaign.yaml');
  expect(text).toContain('(<path>:3:1)');
  expect(text).toMatch(/<(?:package|cwd)>\/dist\/cli\/main\.js/);
  expect(text).not.toContain(homedir() === '/' ? '\0' : homedir());
});

describe('timing', () => {
  const place = workplaceForEach();

  test('MEDIABATCH_TIMING=1 writes the milliseconds of each stage to stderr, and nothing else changes', async () => {
    place.write('products.csv', products);
    place.write('campaign.yaml', manifest);
    const usual = await place.run('plan', 'campaign.yaml');
    vi.stubEnv('MEDIABATCH_TIMING', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const timed = await place.run('plan', 'campaign.yaml');
    expect(timed.err.replaceAll(/\d+/g, 'N')).toBe(
      `${usual.err.replaceAll(/\d+/g, 'N')}timing  load N, graph N, lock N, plan N, print N ms\n`,
    );
    expect(timed.out).toBe(usual.out);
  });
});

test('detaching before a run has begun prints no summary', async () => {
  const { terminal, said } = bufferTerminal();
  const plan = { rows: [{ address: 'pic', action: 'create' }] } as unknown as Plan;
  const recorder = await makeRecorder(plan, {
    ...{ terminal, events: undefined, detail: undefined, page: undefined, latest: () => plan },
    ...{ elsewhere: false, goingOn: undefined, filesStay: undefined },
    paths: { state: 'no-such-folder', durations: 'durations.json', outputs: '.' } as CampaignPaths,
  });
  await recorder.end();
  expect(said.err).toBe('');
});
