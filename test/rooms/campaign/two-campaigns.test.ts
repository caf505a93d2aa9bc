import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCampaign } from '../../../src/campaign/open-campaign.ts';
import { readSandboxFacts } from '../../../src/campaign/service-facts.ts';
import { temporaryFolder } from '../../rig/command.ts';

test('two campaigns in one process share nothing of what they have read; each reads it once', async () => {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const [one, other] = await Promise.all(
    ['a.yaml', 'b.yaml'].map((file) => openCampaign(join(path, file), { sandbox: true })),
  );
  if (one === undefined || other === undefined) throw new Error('not open');
  const facts = await readSandboxFacts(one);
  expect(await readSandboxFacts(one)).toBe(facts);
  const quiet = { ...one, tell: () => {} };
  expect(await readSandboxFacts(quiet)).toBe(facts);
  expect(await readSandboxFacts(other)).not.toBe(facts);
  expect(await readSandboxFacts(other)).toEqual(await readSandboxFacts(other));
  expect(await readSandboxFacts(one)).toBe(facts);
});
