import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, pageNames } from '../rig/manual-pages.ts';
import { gatedDrafts, temporary, typeLine, usedQuickstart } from '../rig/used-campaigns.ts';

test('every command of the manual does what it says', async () => {
  const [used, gated] = [await usedQuickstart(), await gatedDrafts()];
  const failed: string[] = [];
  let run = 0;
  for (const page of pageNames) {
    for (const { name, text } of page === 'start' ? [] : blocksOf(page, 'sh')) {
      expect(['', 'gates', 'not-run', 'terminal']).toContain(name.split(' ')[0]);
      // What is typed into several terminals: `engine-manual.test.ts`.
      if (name === 'not-run' || name.startsWith('terminal ')) continue;
      const folder = join(temporary(), 'campaign');
      cpSync(name === 'gates' ? gated : used, folder, { recursive: true, preserveTimestamps: true });
      run += 1;
      // A line that enters a folder goes with the others; a run that stops at a gate is told by its exit.
      for (const line of name === 'gates' ? text.split('\n') : [`set -e\n${text}`]) {
        const { code, said } = await typeLine(line, { folder, how: undefined });
        const isRight = code === 0 || (code === 5 && name === 'gates' && /^mediabatch apply|--picked/.test(line));
        if (!isRight) failed.push(`${page}: ${line}\nexit ${code}\n${said}`);
      }
    }
  }
  expect(failed).toEqual([]);
  expect(run).toBeGreaterThan(8);
}, 600_000);

test('the commands of README lead from a spreadsheet to a gallery', async () => {
  const folder = temporary();
  for (const { name, text } of blocksOf('start', 'csv')) writeFileSync(join(folder, name), `${text}\n`);
  const blocks = blocksOf('../../README', 'sh').filter(({ name }) => name !== 'not-run');
  const lines = blocks.flatMap(({ text }) => text.replaceAll(/^npx /gm, '').split('\n'));
  for (const line of lines) {
    const { code, said } = await typeLine(line, { folder, how: undefined });
    expect([line, code], said).toEqual([line, 0]);
  }
  expect(lines.length).toBeGreaterThanOrEqual(4);
  expect(existsSync(join(folder, 'campaign.sandbox.report/index.html'))).toBe(true);
}, 120_000);

test('the ten minutes of `help start` lead from a spreadsheet to a gallery, in one folder', async () => {
  const folder = temporary();
  for (const { name, text } of blocksOf('start', 'csv')) writeFileSync(join(folder, name), `${text}\n`);
  const lines = blocksOf('start', 'sh').flatMap(({ name, text }) => (name === 'not-run' ? [] : text.split('\n')));
  for (const line of lines) {
    const { code, said } = await typeLine(line, { folder, how: undefined });
    expect([line, code], said).toEqual([line, 0]);
  }
  const [shown] = blocksOf('start', 'text');
  const { said } = await typeLine('rm campaign.sandbox.lock.jsonl; mediabatch plan --sandbox', {
    folder,
    how: undefined,
  });
  expect(said).toContain(shown?.text);
  expect(existsSync(join(folder, 'campaign.sandbox.report/index.html'))).toBe(true);
  expect(readFileSync(join(folder, 'outputs.csv'), 'utf8')).toContain('a carafe of water');
}, 120_000);
