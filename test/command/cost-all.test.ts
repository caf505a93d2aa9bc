import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { header, record } from './scripted.ts';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();

test('cost --all sums every campaign of the tree, and lists what it omits', async () => {
  for (const [name, credits] of [
    ['spring', 6],
    ['autumn', 4],
  ] as const) {
    mkdirSync(join(place.folder, name));
    place.write(
      `${name}/shop.yaml`,
      `version: 1\nname: ${name}\ntasks:\n  hero: { kind: image, with: { prompt: a lamp } }\n`,
    );
    const bought = [
      { address: 'hero', jobId: `j-${name}`, credits, kind: 'image' },
      { address: 'old', jobId: `o-${name}`, credits: 1, kind: 'music' },
    ];
    place.write(`${name}/shop.lock.jsonl`, `${[header, ...bought.map(record)].join('\n')}\n`);
  }
  place.write('gone.lock.jsonl', `${header}\n${record({ jobId: 'j', credits: 9 })}\n`);
  const json = await place.run('cost', '--all', '--by', 'campaign,kind', '--json');
  const { campaign, totals, rows } = JSON.parse(json.out);
  expect({ campaign, spent: totals.spent }).toEqual({ campaign: undefined, spent: 12 });
  expect(rows.map(({ campaign: name, kind, credits }: { [key: string]: unknown }) => [name, kind, credits])).toEqual([
    ['spring', 'image', expect.objectContaining({ spent: 6 })],
    ['autumn', 'image', expect.objectContaining({ spent: 4 })],
    ['autumn', 'music', expect.objectContaining({ spent: 1 })],
    ['spring', 'music', expect.objectContaining({ spent: 1 })],
  ]);
  expect(json.err).toBe('left out gone.lock.jsonl: no manifest of its name is next to it\n');
  const text = await place.run('cost', '--all');
  expect(text.out).toContain('all campaigns: 12 credits spent');
});
