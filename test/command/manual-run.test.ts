import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, pageNames } from '../rig/manual-pages.ts';
import { gatedDrafts, temporary, typeLine, usedQuickstart } from '../rig/used-campaigns.ts';

test('every command of the manual does what it says', async () => {
  const [used, gated] = [await usedQuickstart(), await gatedDrafts()];
  const failed: string[] = [];
  let run = 0;
  for (const page of pageNames) {
    for (const { name, text } of blocksOf(page, 'sh')) {
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
