import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { diskReader } from '../../../src/campaign/manifest-inputs.ts';
import { rememberDigests } from '../../../src/campaign/watch/watch.ts';
import { temporaryFolder } from '../../rig/command.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a file is hashed again when it changed, and while its next change might not show', async () => {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const write = (text: string) => writeFileSync(join(folder, 'logo.png'), text);
  write('one');
  const disk = diskReader(join(folder, 'campaign.yaml'));
  const digest = vi.fn(disk.digest);
  const reader = rememberDigests({ ...disk, digest }, folder);
  const first = await reader.digest('logo.png');
  await reader.digest('logo.png');
  expect(digest).toHaveBeenCalledTimes(2);
  // By then the clock of any file system has gone on.
  vi.useFakeTimers({ now: Date.now() + 10_000, toFake: ['Date'] });
  await reader.digest('logo.png');
  expect(await reader.digest('logo.png')).toEqual(first);
  expect(digest).toHaveBeenCalledTimes(3);
  write('two');
  const second = await reader.digest('logo.png');
  expect(second).not.toEqual(first);
  expect(await reader.digest('gone.png')).toHaveProperty('problem');
  expect(digest).toHaveBeenCalledTimes(5);
});
