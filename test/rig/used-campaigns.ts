import { execFileSync, spawn } from 'node:child_process';
import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CommandRow } from '../../src/cli/program/command-row.ts';
import { bin, command } from './command.ts';
import { makeFolder } from './folder.ts';
import { gitEnvironment } from './git-environment.ts';

/** The quickstart after a rehearsal and a day of work: a row and a season less, another season, other words, a retouched picture, and pins. */
export async function usedQuickstart(): Promise<string> {
  const folder = makeFolder();
  await command(['init', '.'], { cwd: folder });
  const bought = await command(['apply', '--sandbox', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10'], {
    cwd: folder,
  });
  expect(bought.code, bought.err).toBe(0);
  await command(['pin', '--sandbox', 'hero@clock,1:1', 'song@spring'], { cwd: folder });
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'bought'],
  ]) {
    execFileSync('git', args, { cwd: folder, env: gitEnvironment });
  }
  const change = (name: string, from: string | RegExp, to: string) => {
    const text = readFileSync(join(folder, name), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(join(folder, name), text.replace(from, to));
  };
  change('campaign.yaml', '[spring, winter]', '[spring, autumn]');
  change('campaign.yaml', 'generous empty space', 'much empty space');
  change('products.csv', /^kettle.*\n?/m, '');
  const pictures = join(folder, 'campaign.sandbox/images');
  renameSync(join(pictures, 'vase-1-1.png'), join(pictures, 'lamp-1-1.png'));
  cpSync(join(pictures, 'lamp-1-1.png'), join(folder, 'logo.png'));
  writeFileSync(join(folder, 'north.yaml'), 'brand: Northlight\n');
  return folder;
}

/** Drafts that are picked, and a teaser that nobody has approved yet; and what two people think. */
export async function gatedDrafts(): Promise<string> {
  const folder = makeFolder();
  const run = async (...args: string[]) => {
    const { code, err } = await command([...args, '--sandbox'], { cwd: folder });
    expect([0, 5], err).toContain(code);
  };
  const apply = ['apply', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10'];
  await command(['init', '.', '--example', 'draft-to-final'], { cwd: folder });
  await run(...apply);
  await run('pick', 'draft@lamp/2', 'draft@vase/1');
  await run(...apply);
  for (const [by, other] of [
    ['ada', 2],
    ['bo', 4],
  ]) {
    const verdicts = ['draft@lamp/3', `draft@vase/${other}`].map((address) => ({ address, is: 'picked' }));
    writeFileSync(join(folder, `${by}.json`), JSON.stringify({ mediabatch: 'picks', version: 1, by, verdicts }));
  }
  return folder;
}

/** Types a line into a shell. `how`: it is ended as Ctrl-C does, once it has said something. */
export function typeLine(
  line: string,
  { folder, how }: { folder: string; how: CommandRow['examples'][number][2] },
): Promise<{ code: number | null; said: string }> {
  const script = `mediabatch() { '${process.execPath}' '${bin}' "$@"; }\n${line}\n`;
  const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_STATE_HOME: process.env.XDG_STATE_HOME ?? '' };
  const child = spawn('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      const isFirst = said === '';
      said += piece;
      if (isFirst && how === 'until Ctrl-C' && child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
    });
  }
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })));
}
