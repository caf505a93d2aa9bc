import { expect, test } from 'vitest';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();

test.each([
  [99, '99 errors', undefined],
  [100, '100 errors', undefined],
  [163, '100 of 163 errors', 63],
])('of %i mistakes as many as fit are told, and how many there are', async (count, counts, omitted) => {
  const tasks = Array.from({ length: count }, (_, index) => `  t${index}: { kind: image, with: { prompt: 7 } }`);
  place.write('campaign.yaml', `version: 1\nname: many\ntasks:\n${tasks.join('\n')}\n`);
  const text = await place.run('validate', 'campaign.yaml');
  expect(text.code).toBe(65);
  expect(text.err.trimEnd().split('\n').at(-1)).toBe(counts);
  const report = JSON.parse((await place.run('validate', 'campaign.yaml', '--json')).out);
  expect(report).toMatchObject({ valid: false, errors: count, warnings: 0 });
  expect([report.diagnostics.length, report.omitted]).toEqual([Math.min(count, 100), omitted]);
  expect((await place.run('plan', 'campaign.yaml')).err).toContain(counts);
});
