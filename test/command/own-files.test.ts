import { expect, test } from 'vitest';
import { manifest, products, workplaceForEach } from './workplace.ts';

const place = workplaceForEach();

async function bought(): Promise<void> {
  place.write('campaign.yaml', manifest);
  place.write('products.csv', products);
  await place.run('plan', '--sandbox', '--out', 'x.plan.json');
  place.write('printed.json', (await place.run('plan', '--json')).out);
  place.write('campaign.sandbox.lock.jsonl', '{"mediabatch":"lock","version":2}\n');
  place.write('spring.lock.jsonl', '{"mediabatch":"lock","version":2}\n');
}

test('a saved plan or a lock that is given for a manifest is recognized, and what to type is said', async () => {
  await bought();
  for (const line of ['plan', 'validate', 'status', 'gc', 'pin', 'explain hero hero@lamp']) {
    const [command = '', ...rest] = line.split(' ');
    const said = async (file: string) => {
      const { code, err } = await place.run(command, file, ...rest.slice(1));
      expect(code, line).toBe(65);
      return err;
    };
    expect(await said('x.plan.json')).toContain('x.plan.json is a saved plan, not a manifest');
    expect(await said('x.plan.json')).toMatch(
      /to carry out the plan: mediabatch apply x\.plan\.json\n +for everything else name its manifest, campaign\.yaml\n/,
    );
    expect(await said('printed.json')).toContain('printed.json is a plan that was printed, not a manifest');
    expect(await said('campaign.sandbox.lock.jsonl')).toContain('name its manifest: campaign.yaml, with --sandbox');
    expect(await said('spring.lock.jsonl')).toContain('is the lock of a campaign, not a manifest');
  }
  expect((await place.run('apply', 'spring.lock.jsonl')).err).toContain('name its manifest: spring.yaml');
});

test('a manifest in JSON is a manifest', async () => {
  place.write(
    'campaign.json',
    '{ "version": 1, "name": "x", "tasks": { "a": { "kind": "image", "with": { "prompt": "x", "resolution": "1k" }, "save": "a" } } }',
  );
  expect(await place.run('validate', 'campaign.json')).toMatchObject({ code: 0 });
});
