import { expect, onTestFinished, test, vi } from 'vitest';
import { manifest, products, workplaceForEach } from './workplace.ts';

const place = workplaceForEach();

test('MEDIABATCH_TIMING=1 writes the milliseconds of each stage to stderr, and nothing else changes', async () => {
  place.write('products.csv', products);
  place.write('campaign.yaml', manifest);
  const usual = await place.run('plan', 'campaign.yaml');
  vi.stubEnv('MEDIABATCH_TIMING', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const timed = await place.run('plan', 'campaign.yaml');
  expect(timed.err.replaceAll(/\d+/g, 'N')).toBe(
    `${usual.err.replaceAll(/\d+/g, 'N')}timing  load N, graph N, lock N, plan N, print N ms\n`,
  );
  expect(timed.out).toBe(usual.out);
});
