import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examples } from '../../src/cli/program/examples.ts';
import { gatedDrafts, temporary, typeLine, usedQuickstart } from '../rig/used-campaigns.ts';

test('every example in the help does what it says', async () => {
  const [used, gated] = [await usedQuickstart(), await gatedDrafts()];
  const failed: string[] = [];
  for (const [name, own] of Object.entries(examples)) {
    const folders = [used, gated].map((from) => {
      const folder = join(temporary(), 'campaign');
      cpSync(from, folder, { recursive: true, preserveTimestamps: true });
      return folder;
    });
    for (const [line, , how] of own) {
      if (how === 'not run') continue;
      const { code, said } = await typeLine(line, { folder: folders[how === 'at gates' ? 1 : 0] ?? '', how });
      // Nobody sits there, and nobody has decided about the groups.
      const expected = how === 'asks' || /deliver .*--picked/.test(line) ? 5 : 0;
      if (code !== expected) failed.push(`${name}: ${line}\nexit ${code}\n${said}`);
    }
  }
  expect(failed).toEqual([]);
}, 600_000);
