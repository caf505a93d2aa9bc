import { expect, test } from 'vitest';
import { graphOf } from '../../rig/campaign.ts';

const campaign = (task: string) => `version: 1\nname: test\ntasks:\n  hero: { ${task} }\n`;

test.each<[name: string, task: string, expected: unknown]>([
  [
    'a number goes on by itself',
    'kind: image, foreach: [A, B], canary: 2, with: { prompt: "{{row}}" }',
    [{ name: 'canary of hero', task: 'hero', first: 2, asks: false, members: ['hero@A', 'hero@B'] }],
  ],
  [
    'one is the first',
    'kind: image, takes: 2, canary: { then: ask }, with: { prompt: x }',
    [{ name: 'canary of hero', task: 'hero', first: 1, asks: true, members: ['hero/1', 'hero/2'] }],
  ],
  [
    'prices have canaries of their own',
    'kind: image, foreach: [A, B], matrix: { r: [1k, 4k] }, canary: 1, with: { prompt: "{{row}}", resolution: "{{matrix.r}}" }',
    [
      {
        ...{ name: 'canary of hero (image/alpha-2/resolution=1k)', task: 'hero', first: 1, asks: false },
        members: ['hero@A,1k', 'hero@B,1k'],
      },
      {
        ...{ name: 'canary of hero (image/alpha-2/resolution=4k)', task: 'hero', first: 1, asks: false },
        members: ['hero@A,4k', 'hero@B,4k'],
      },
    ],
  ],
  ['there are none without the key', 'kind: image, with: { prompt: x }', undefined],
])('%s', (_name, task, expected) => {
  expect(graphOf(campaign(task)).canaries).toEqual(expected);
});
