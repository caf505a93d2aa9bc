import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import { gatedDrafts, temporary, typeLine, usedQuickstart } from '../rig/used-campaigns.ts';
import { bufferTerminal } from './buffer-terminal.ts';

test('every example in the help does what it says', async () => {
  const [used, gated] = [await usedQuickstart(), await gatedDrafts()];
  const failed: string[] = [];
  for (const [name, , { examples }] of namedCommands(makeProgram({ ...bufferTerminal(), exit() {} }))) {
    const folders = [used, gated].map((from) => {
      const folder = join(temporary(), 'campaign');
      cpSync(from, folder, { recursive: true, preserveTimestamps: true });
      return folder;
    });
    for (const [line, , how] of examples) {
      if (how === 'not run') continue;
      const { code, said } = await typeLine(line, { folder: folders[how === 'at gates' ? 1 : 0] ?? '', how });
      // Nobody sits there, and nobody has decided about the groups.
      const expected = how === 'asks' || /deliver .*--picked/.test(line) ? 5 : 0;
      if (code !== expected) failed.push(`${name}: ${line}\nexit ${code}\n${said}`);
    }
  }
  expect(failed).toEqual([]);
}, 600_000);
