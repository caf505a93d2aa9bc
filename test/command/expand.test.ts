import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { expectExit, root } from '../rig/command.ts';
import { exampleNames, openExample } from '../rig/examples.ts';
import { manifest, products, workplaceForEach } from './in-process.ts';

describe('expand', () => {
  const { run, write } = workplaceForEach();

  beforeEach(() => {
    write('products.csv', products);
    write('campaign.yaml', manifest);
  });

  test('one entry for each step, with the origin of each value', async () => {
    const { code, out } = await run('explain', 'campaign.yaml', '--origins');
    expect(code).toBe(0);
    expect(out).toMatchSnapshot();
    expect(parse(out).steps['hero@vase']).toEqual({
      task: 'hero',
      kind: 'image',
      key: 'vase',
      with: { resolution: '1k', prompt: 'Tide Vase on an oak table' },
      save: 'images/vase',
    });
  });

  test.each(exampleNames())('%s: its YAML equals its JSON', async (name) => {
    const file = join(root, 'examples', name, 'campaign.yaml');
    const text = await run('explain', file, '--origins');
    const json = JSON.parse((await run('explain', file, '--origins', '--json')).out);
    expect(text.code).toBe(0);
    const { steps, ...campaign } = parse(text.out);
    const { steps: listed, mediabatch, campaign: title, ...values } = json;
    expect(mediabatch).toBe('expansion');
    expect(campaign).toEqual({ ...values, name: title });
    expect(steps).toEqual(
      Object.fromEntries(
        listed.map(({ address, trail: _trail, origins: _origins, ...rest }: { [key: string]: unknown }) => [
          address,
          rest,
        ]),
      ),
    );
  });

  test('explain prints one step of all with --origins, its request with --request, and needs a step otherwise', async () => {
    const origins = await run('explain', 'campaign.yaml', 'hero@vase', '--origins', '--json');
    const { steps, ...campaign } = JSON.parse((await run('explain', 'campaign.yaml', '--origins', '--json')).out);
    const only = steps.filter(({ address }: { address: string }) => address === 'hero@vase');
    expect(JSON.parse(origins.out)).toEqual({ ...campaign, steps: only });
    const request = await run('explain', 'campaign.yaml', 'hero@vase', '--request');
    expect(await run('render', 'hero@vase')).toEqual(request);
    expect(await run('expand', '--json')).toEqual(await run('explain', 'campaign.yaml', '--origins', '--json'));
    expect(JSON.parse(request.out)).toMatchObject({ prompt: 'Tide Vase on an oak table' });
    for (const words of [[], ['--request']]) {
      const unnamed = await run('explain', 'campaign.yaml', ...words);
      expect(unnamed).toMatchObject({ code: 64, err: expect.stringContaining('explain campaign.yaml --origins') });
    }
  });
});

test('there are eight campaigns besides the quickstart, and they use every kind', () => {
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

test.each(exampleNames())('%s: its plan equals the golden file', async (name) => {
  const { run } = await openExample(name);
  const plan = await expectExit(0, run('plan', 'campaign.yaml', '--refresh', '--all'));
  await expect(plan.out).toMatchFileSnapshot(`goldens/${name}.plan.txt`);
});
