import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCampaign } from '../../../src/campaign/open-campaign.ts';
import { keepIndex } from '../../../src/campaign/save-outputs-list.ts';
import { KeptMeasures } from '../../../src/disk/state/kept-measures.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { buyEverything } from '../../rig/review/bought-campaign.ts';

test.each(['all.csv', 'all.json', 'all.jsonl'])(
  'two campaigns of a folder do not write over each other’s %s',
  async (index) => {
    const { path: folder, remove } = temporaryFolder();
    onTestFinished(remove);
    const told: string[] = [];
    const keep = async (name: string) => {
      const file = join(folder, `${name}.yaml`);
      const campaign = await openCampaign(file, {
        tell: (one) => told.push('text' in one ? String(one.text) : one.is),
      });
      await keepIndex(campaign, index);
      return readFileSync(join(folder, index), 'utf8');
    };
    for (const name of ['one', 'other']) {
      const file = join(folder, `${name}.yaml`);
      writeFileSync(
        file,
        `version: 1\nname: ${name}\ntasks:\n  ${name}: { kind: image, with: { prompt: "${name}" } }\n`,
      );
      await buyEverything(file, () => ({ path: `${name}.png`, bytes: Buffer.from(name) }));
    }
    const own = await keep('one');
    expect(own).toContain('one.png');
    const { paths } = await openCampaign(join(folder, 'one.yaml'));
    const sha256 = createHash('sha256').update('one').digest('hex');
    expect(await new KeptMeasures(paths.state).get(sha256)).toMatchObject({ credentials: { hasCredentials: false } });
    expect(await keep('other')).toBe(own);
    expect(told).toEqual([expect.stringContaining(`${index} lists files of another campaign, and was left as it is`)]);
    expect(await keep('one')).toBe(own);
    expect(told).toHaveLength(1);
  },
);
