import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readPicks } from '../../../src/campaign/decisions/judge.ts';
import { temporaryFolder } from '../../rig/command.ts';

test('a file that is not there is told from one that holds no picks', async () => {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const [none, bad] = [join(path, 'none.json'), join(path, 'bad.json')];
  writeFileSync(bad, '{}');
  await expect(readPicks(none)).rejects.toThrow(`--from ${none} is not there`);
  await expect(readPicks(bad)).rejects.toThrow(`--from ${bad} is not a file of picks`);
});
