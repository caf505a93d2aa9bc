import { expect, test } from 'vitest';
import { graphOf } from '../../rig/campaign.ts';

const campaign = (task: string) => `version: 1\nname: test\ntasks:\n  hero: { ${task} }\n`;

test.each<[name: string, task: string, expected: unknown]>([
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

const told = (text: string) => (graphOf(text).canaries ?? []).map(({ name, members }) => `${name}: ${members.length}`);
const rowsOf = (count: number, rowOf: (index: number) => string) =>
  `[${Array.from({ length: count }, (_, index) => rowOf(index)).join(', ')}]`;

test.each<[name: string, task: string, expected: string[]]>([
  [
    'a voice that a template chooses by a column',
    `kind: voiceover, foreach: ${rowsOf(6, (index) => `{ id: r${index}, l: ${index % 2 ? 'en' : 'de'} }`)}, key: "{{row.id}}", canary: 1, with: { text: "{{row.id}} x", voice_id: '{{#if (eq row.l "de")}}Aria{{else}}Roger{{/if}}' }`,
    ['canary of hero (voice_id=Aria): 3', 'canary of hero (voice_id=Roger): 3'],
  ],
  [
    'a ratio, beside the price',
    'kind: image, foreach: [a, b], matrix: { size: [1k, 4k], ratio: ["1:1", "9:16"] }, canary: 1, with: { prompt: x, resolution: "{{matrix.size}}", aspectRatio: "{{matrix.ratio}}" }',
    ['1k', '4k'].flatMap((size) =>
      ['1:1', '9:16'].map((ratio) => `canary of hero (image/alpha-2/resolution=${size}, aspectRatio=${ratio}): 2`),
    ),
  ],
  [
    'no link and no name of a row, however many there are',
    `kind: video, foreach: ${rowsOf(300, (index) => `{ id: r${index}, url: "https://a.example/${index % 3}.png" }`)}, key: "{{row.id}}", canary: 1, with: { prompt: x, image: "{{row.url}}", seed: "{{row.id}}" }`,
    ['canary of hero: 300'],
  ],
  [
    'no more than twelve kinds of steps: a field that would make more does not count',
    'kind: voiceover, foreach: [a, b], matrix: { voice: [Aria, Roger, Sarah, Laura], format: [mp3, wav, ogg, flac] }, canary: 1, with: { text: "a text", voice_id: "{{matrix.voice}}", output_format: "{{matrix.format}}" }',
    ['Aria', 'Roger', 'Sarah', 'Laura'].map((voice) => `canary of hero (voice_id=${voice}): 8`),
  ],
  [
    'nothing where more than half of the steps would be canaries',
    'kind: voiceover, matrix: { voice: [Aria, Roger, Sarah] }, canary: 1, with: { text: "a text", voice_id: "{{matrix.voice}}" }',
    ['canary of hero: 3'],
  ],
])('steps are told apart by %s', (_name, task, expected) => {
  expect(told(campaign(task))).toEqual(expected);
});
