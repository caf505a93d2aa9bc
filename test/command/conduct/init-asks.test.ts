import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin, command, temporaryFolder } from '../../rig/command.ts';
import { hasTerminals, runOnTerminal } from '../../rig/terminal.ts';

function temporary(): string {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  return path;
}

async function init(folder: string, keys: string[], args: string[] = ['new']) {
  const { code, text } = await runOnTerminal([process.execPath, bin, 'init', ...args], {
    cwd: folder,
    env: { NO_COLOR: '1' },
    deeds: keys.map((pressed) => ({ after: '[1] ', keys: pressed })),
  });
  return { status: code, said: text.replaceAll('\r', '') };
}

const manifestIn = (folder: string) => readFileSync(join(folder, 'new/campaign.yaml'), 'utf8');

/** Skipped where there is no python3 to make a terminal with. */
describe.runIf(hasTerminals)('init on a terminal (python3)', () => {
  test('asks two questions, and Enter selects the first choice', async () => {
    const folder = temporary();
    const { status, said } = await init(folder, ['\r', '\r']);
    expect(status, said).toBe(0);
    expect(said.split('[1] ')).toHaveLength(3);
    expect(said).toContain('Try it with sandbox credits: mediabatch apply new/campaign.yaml --sandbox');
    expect(manifestIn(folder)).toContain('description: Product pictures in two formats');
  });

  test('accepts numbers, names and tables of the folder, and asks again otherwise', async () => {
    const folder = temporary();
    writeFileSync(join(folder, 'things.csv'), 'sku,name\na,Lamp\n');
    const { status, said } = await init(folder, ['99\r', 'things.csv\r', '2\r']);
    expect(status, said).toBe(0);
    expect(said).toContain('there is no 99; write a number or a name');
    expect(manifestIn(folder)).toContain('foreach: "things.csv"');
    expect(said).toContain('Set MEDIABATCH_BASE_URL and MEDIABATCH_API_KEY, or fill in a copy of new/.env.example');
    expect(said).toContain('See what it costs: mediabatch plan new/campaign.yaml\n');
  });

  test.each([
    ['Ctrl-C at the first question', ['\u0003']],
    ['Ctrl-C at the second', ['2\r', '\u0003']],
    ['Ctrl-D', ['\u0004']],
  ])('leaves nothing behind after %s', async (_how, keys) => {
    const folder = temporary();
    const { status, said } = await init(folder, keys);
    expect(status, said).toBe(130);
    expect(said).toMatch(/\nnothing was written\n$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('asks nothing if an example is named, or a campaign exists', async () => {
    const folder = temporary();
    expect((await init(folder, [], ['new', '--example', 'product-grid'])).said).not.toContain('?');
    const { status, said } = await init(folder, []);
    expect(status).toBe(64);
    expect(said).toContain('would be overwritten');
  });
});

test('without a terminal init asks nothing', async () => {
  const folder = temporary();
  const { code, err } = await command(['init', 'new'], { cwd: folder });
  expect(code).toBe(0);
  expect(err).not.toContain('What do you start from');
  expect(existsSync(join(folder, 'new/campaign.yaml'))).toBe(true);
});
