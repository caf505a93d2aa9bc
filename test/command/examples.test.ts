import { expect, test } from 'vitest';
import { exampleNames, openExample } from '../rig/examples.ts';

test('there are eight campaigns beside the quickstart, and they use every kind', () => {
  expect(exampleNames()).toEqual([
    'draft-to-final',
    'influencer-lookbook',
    'localized-launch',
    'one-cast',
    'podcast-clips',
    'product-grid',
    'quickstart',
    'season-sale',
    'short-video-series',
  ]);
});

test.each(exampleNames())('%s: its plan is as it was', async (name) => {
  const { run } = await openExample(name);
  const plan = await run('plan', 'campaign.yaml', '--refresh', '--all');
  expect(plan.code, plan.err).toBe(0);
  await expect(plan.out).toMatchFileSnapshot(`goldens/${name}.plan.txt`);
});
