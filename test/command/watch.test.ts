import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ReviewData } from '../../src/contract/review.ts';
import { bin, command, temporaryFolder } from '../rig/command.ts';
import { manifest, products } from './workplace.ts';

const schema = JSON.parse(readFileSync(new URL('../../schemas/watch.schema.json', import.meta.url), 'utf8'));
const fits = new Ajv2020({ strict: true, strictRequired: false, validateFormats: false }).compile(schema);

function campaignFolder(): { path(name: string): string; folder: string } {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const path = (name: string) => join(folder, name);
  writeFileSync(path('campaign.yaml'), manifest);
  writeFileSync(path('products.csv'), products);
  return { folder, path };
}

interface WatchedCommand {
  /** Resolves with all that was said when it matches, or rejects when the command has ended without. */
  says(pattern: RegExp): Promise<string>;
  /** What it said on stderr. */
  told(): string;
  /** Ends it as Ctrl-C does. */
  interrupt(): Promise<{ code: number | null; out: string; err: string }>;
}

function watchCommand(folder: string, args: string[] = []): WatchedCommand {
  const env = { PATH: process.env.PATH ?? '', HOME: folder };
  const child = spawn(process.execPath, [bin, 'watch', ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  let wake = () => {};
  for (const name of ['out', 'err'] as const) {
    child[name === 'out' ? 'stdout' : 'stderr'].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      wake();
    });
  }
  const ended = new Promise<number | null>((done) => child.on('close', done));
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let isOver = false;
  void ended.then(() => {
    isOver = true;
    wake();
  });
  return {
    async says(pattern) {
      while (!pattern.test(said.out + said.err)) {
        if (isOver) throw new Error(`it ended without ${pattern}:\n${said.out}${said.err}`);
        await new Promise<void>((done) => {
          wake = done;
        });
      }
      return said.out;
    },
    told: () => said.err,
    async interrupt() {
      child.kill('SIGINT');
      return { code: await ended, ...said };
    },
  };
}

/** Everything below a folder, with the times at which it was changed. */
function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => `${name} ${statSync(join(folder, name)).ctimeMs}`);
}

describe('watch', () => {
  test('serves the review page beside it, which follows the saves', async () => {
    const { folder, path } = campaignFolder();
    expect(await command(['apply', '--sandbox', '--yes'], { cwd: folder, env: { HOME: folder } })).toMatchObject({
      code: 0,
    });
    const watch = watchCommand(folder, ['--sandbox', '--review', '--no-open']);
    await watch.says(/nothing to do/i);
    const [url = ''] = /http:\S+/.exec(watch.told()) ?? [];
    const look = async () => (await (await fetch(`${url}data.json`)).json()) as ReviewData;
    const before = await look();
    expect(before.edits).toBeUndefined();
    expect(before.assets.map(({ state }) => state)).toEqual(before.assets.map(() => 'done'));
    writeFileSync(path('campaign.yaml'), manifest.replace('oak', 'elm'));
    await watch.says(/oak → elm/);
    const after = await look();
    expect(after.revision).toBeGreaterThan(before.revision);
    expect(after.assets.some(({ state }) => state === 'changed')).toBe(true);
    expect(after.edits).toMatch(/^the edits give up \d+ outputs? that cost \d+ credits?; to buy (it|them) anew: /);
    expect((await watch.interrupt()).code).toBe(0);
  });

  test('tells credits, changes and mistakes at every save, writes nothing, and ends with Ctrl-C', async () => {
    const { folder, path } = campaignFolder();
    writeFileSync(path('campaign.yaml'), `${manifest}budget: { credits: 9 }\n`);
    const before = listing(folder).filter((line) => !line.startsWith('campaign.yaml '));
    const watch = watchCommand(folder, ['--sandbox']);
    await watch.says(/2 to create/);
    writeFileSync(path('campaign.yaml'), `${manifest.replace('oak', 'elm')}budget: { credits: 1 }\n`);
    const said = await watch.says(/oak → elm/);
    expect(said).toMatch(/^\d\d:\d\d:\d\d to spend: /);
    expect(said).toContain('budget 1, 1 left');
    writeFileSync(path('campaign.yaml'), manifest + [...'abcdefg'].map((key) => `${key}: 1\n`).join(''));
    const wrong = await watch.says(/the first 5 of them above/);
    expect(wrong.match(/error MB/g)).toHaveLength(5);
    const { code, err } = await watch.interrupt();
    expect(code).toBe(0);
    expect(err).toBe('watched campaign.yaml: 3 plans, nothing spent\n');
    expect(listing(folder).filter((line) => !line.startsWith('campaign.yaml '))).toEqual(before);
  });

  test('is a document on each line with --json', async () => {
    const { folder, path } = campaignFolder();
    const watch = watchCommand(folder, ['--json', '--first', '1']);
    await watch.says(/\n/);
    writeFileSync(path('products.csv'), products.replace('Aurora', 'Amber'));
    await watch.says(/\n.+\n/);
    writeFileSync(path('products.csv'), 'name\nx\n');
    await watch.says(/\n.+\n.+\n/);
    const { out } = await watch.interrupt();
    const [first, second, third] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const one of [first, second, third]) expect(fits(one), JSON.stringify(fits.errors)).toBe(true);
    expect(fits({ ...first, actions: { buy: 1 } })).toBe(false);
    expect(first).toMatchObject({ mediabatch: 'watch', version: 1, valid: true, campaign: 'spring', steps: 1 });
    expect(first.changes).toBeUndefined();
    expect(first.totals).toBeDefined();
    expect(second.changes).toMatchObject([{ change: 'changed', address: 'hero@lamp' }]);
    expect(third.valid).toBe(false);
    expect(third.diagnostics[0].range.file).toBe('campaign.yaml');
  });

  test('follows a run in another process', async () => {
    const { folder } = campaignFolder();
    const watch = watchCommand(folder, ['--sandbox']);
    await watch.says(/2 to create/);
    const run = await command(['apply', '--sandbox', '--yes'], { cwd: folder, env: { HOME: folder } });
    expect(run.code, run.err).toBe(0);
    const said = await watch.says(/all 2 steps are up to date/);
    expect(said).toMatch(/^bought \d jobs? for \d+ credits/m);
    expect(said).toMatch(/up to date, before: to c/);
    expect((await watch.interrupt()).code).toBe(0);
  });

  test('does not begin without a manifest', async () => {
    const { folder } = campaignFolder();
    expect(await command(['watch', 'spring.yaml'], { cwd: folder })).toMatchObject({
      code: 65,
      err: expect.stringContaining('there is no file spring.yaml'),
    });
  });

  test('ends when nobody reads it any more', async () => {
    const { folder, path } = campaignFolder();
    const script = `"$0" "$1" watch | head -n 1; echo "ended with \${PIPESTATUS[0]}"`;
    const child = spawn('bash', ['-c', script, process.execPath, bin], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    let saves = 0;
    const timer = setInterval(() => {
      saves += 1;
      writeFileSync(path('products.csv'), `${products}row-${saves},Row\n`);
    }, 200);
    onTestFinished(() => clearInterval(timer));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await new Promise((done) => child.on('close', done));
    expect(said).toMatch(/ended with 0\n$/);
  });
});

test('apply does not watch, and says what does', async () => {
  const { folder, path } = campaignFolder();
  const { code, err } = await command(['apply', '--sandbox', '--watch', '--yes'], { cwd: folder });
  expect(code).toBe(64);
  expect(err).toContain('whoever saves a file has not agreed to pay');
  expect(err).toContain('mediabatch watch campaign.yaml --sandbox');
  expect(() => readFileSync(path('campaign.sandbox.lock.jsonl'))).toThrow('ENOENT');
});
