import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { addressOf } from '../../../src/campaign/on-engine/engine-helpers.ts';
import type { OpenCampaign } from '../../../src/campaign/open-campaign.ts';
import { UnsafeFileError } from '../../../src/contract/errors.ts';
import { temporaryFolder } from '../../rig/command.ts';

test('the embedded engine is not started behind a link that came with a branch', async () => {
  const [folder, outside] = [temporaryFolder(), temporaryFolder()];
  onTestFinished(() => {
    folder.remove();
    outside.remove();
  });
  const state = join(folder.path, '.mediabatch');
  symlinkSync(outside.path, state);
  const campaign = { paths: { state } } as OpenCampaign;
  await expect(addressOf({ url: 'embedded' }, campaign)).rejects.toBeInstanceOf(UnsafeFileError);
  expect(readdirSync(outside.path)).toEqual([]);
});
