import { execFileSync } from 'node:child_process';

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../rig/command.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';
import { CampaignRepository } from './campaign-repository.ts';

/** Three versions of a lock, and one that is not committed; the manifest is broken all the time. */
function repository(): CampaignRepository {
  const here = new CampaignRepository();
  here.write('shop/campaign.yaml', 'version: 1\nnonsense: yes\n');
  here.commit();
  for (const sku of ['a', 'b', 'c']) here.buy({ address: `hero@${sku}`, jobId: sku }, 'shop/campaign.lock.jsonl');
  here.commit();
  here.buy({ address: 'song', kind: 'music', jobId: 's', credits: 5, state: 'failed' }, 'shop/campaign.lock.jsonl');
  here.commit();
  here.buy({ address: 'hero@a', jobId: 'again', generation: 2, fingerprint: '1:new' }, 'shop/campaign.lock.jsonl');
  return here;
}

async function ids(here: CampaignRepository, ...args: string[]): Promise<string[]> {
  const { code, out, err } = await here.runIn('shop', 'diff', ...args, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const { rows } = JSON.parse(out) as { rows: { change: string; id: string }[] };
  return rows.map(({ change, id }) => `${change} ${id}`);
}

test('from HEAD to the working tree, from a commit to it, and between two commits, either way', async () => {
  const here = repository();
  expect(await ids(here, 'campaign.yaml')).toEqual(['bought again']);
  expect(await ids(here)).toEqual(['bought again']);
  expect(await ids(here, 'HEAD~1')).toEqual(['bought again', 'bought s']);
  expect(await ids(here, 'campaign.yaml', 'HEAD~1', 'HEAD')).toEqual(['bought s']);
  expect(await ids(here, 'HEAD', 'HEAD~1')).toEqual(['gone s']);
  expect(await ids(here, 'HEAD~2', 'HEAD~1')).toEqual(['bought a', 'bought b', 'bought c']);
  expect(await ids(here, 'HEAD', 'main')).toEqual([]);
  const { out } = await here.runIn('shop', 'diff', 'HEAD~2');
  expect(out.replaceAll(/\([0-9a-f]{10}\)/g, '(…)')).toMatchInlineSnapshot(`
    "lock from HEAD~2 (…) to the working tree

       step  kind    count  credits  what
    +  hero  image  4 jobs       +8  bought: done
    +  song  music   1 job       +5  bought: failed

    spent         0 before, 13 after (+13)
    "
  `);
});

test('over a rename of the lock, and where it was added on both sides', async () => {
  const here = repository();
  here.commit();
  here.git('branch', 'other', 'HEAD~3');
  here.git('mv', 'shop', 'store');
  here.git('mv', 'store/campaign.lock.jsonl', 'store/spring.lock.jsonl');
  here.git('mv', 'store/campaign.yaml', 'store/spring.yaml');
  here.commit();
  here.buy({ address: 'hero@d', jobId: 'd' }, 'store/spring.lock.jsonl');
  const renamed = await here.runIn('store', 'diff', 'spring.yaml', 'HEAD~1', '--json');
  expect(JSON.parse(renamed.out).rows).toEqual([expect.objectContaining({ change: 'bought', id: 'd' })]);
  here.commit();
  here.git('checkout', '--quiet', 'other');
  here.buy({ address: 'hero@a', jobId: 'a' }, 'shop/campaign.lock.jsonl');
  here.buy({ address: 'hero@e', jobId: 'e' }, 'shop/campaign.lock.jsonl');
  here.commit();
  // One whole history, and one that began anew: the same job is the same.
  expect(await ids(here, 'main~1~1', 'HEAD')).toEqual(['bought e', 'gone again', 'gone b', 'gone c', 'gone s']);
});

test('what cannot be compared says what to type', async () => {
  const here = repository();
  const fail = async (...args: string[]) => {
    const { code, out, err } = await here.runIn('shop', 'diff', 'campaign.yaml', ...args);
    expect(out).toBe('');
    return `${code} ${err}`;
  };
  expect(await fail('v9')).toContain('65 error MB3602');
  expect(await fail('HEAD', '--', '--upload-pack=x')).toContain('64 error MB3000');
  expect(await fail('HEAD~2', 'HEAD~2')).toContain('65 error MB3604 there is no lock of campaign.yaml to compare');
  here.write('shop/campaign.lock.jsonl', '{"mediabatch":"lock","version":99}\n');
  here.commit();
  expect(await fail('HEAD', 'HEAD~1')).toMatch(/^65 error MB3604 .* newer mediabatch[\s\S]*update mediabatch/);
  expect(await fail('HEAD~1')).toContain('65 ');
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const words = ['clone', '--quiet', '--depth', '1', `file://${here.folder}`, join(path, 'clone')];
  execFileSync('git', words, { env: gitEnvironment, stdio: 'pipe' });
  const clone = new CampaignRepository(join(path, 'clone'));
  const { code, err } = await clone.runIn('shop', 'diff', 'HEAD~1');
  expect(`${code} ${err}`).toMatch(/^65 error MB3603 [\s\S]*git fetch --unshallow/);
});
