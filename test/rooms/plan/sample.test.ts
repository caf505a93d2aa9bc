import { describe, expect, test } from 'vitest';
import { sampleSteps } from '../../../src/plan/select/select.ts';
import { graphOf } from '../../rig/campaign.ts';

const graph = graphOf(`
version: 1
name: c
tasks:
  logo: { kind: image, with: { prompt: logo } }
  hero:
    kind: image
    foreach: [{ sku: a }, { sku: b }, { sku: c }, { sku: d }]
    key: "{{row.sku}}"
    matrix: { ratio: ["1:1", "9:16"] }
    with: { prompt: "{{row.sku}}", aspectRatio: "{{matrix.ratio}}", referenceImages: ["{{tasks.logo.url}}"] }
  teaser:
    kind: video
    foreach: [{ sku: d }, { sku: c }, { sku: b }, { sku: a }]
    key: "{{row.sku}}"
    with: { prompt: push in, image: "{{tasks.hero.url}}" }
    from: { hero: { ratio: "9:16" } }
  banner: { kind: image, takes: 2, with: { prompt: all of them, referenceImages: "{{tasks.hero.urls}}" } }
  jingle: { kind: music, with: { prompt: short, model: song-7.5 } }
`);
const first = (count: number) => [...(sampleSteps(graph, { is: 'first', count }) ?? [])].sort();
const drawn = (count: number, seed = '') => [...(sampleSteps(graph, { is: 'drawn', count, seed }) ?? [])].sort();

describe('a trial', () => {
  test('has the first rows of each task, whole, with what they need, and the single steps that lack nothing', () => {
    expect(first(1)).toEqual(['hero@a,1:1', 'hero@a,9:16', 'hero@d,9:16', 'jingle', 'logo', 'teaser@d'].sort());
  });

  test('is everything when there are no more rows', () => {
    expect(first(4)).toEqual(graph.steps.map(({ address }) => address).sort());
    expect(drawn(9)).toEqual(first(4));
  });

  test('draws the same rows for every task, and others for another seed', () => {
    const keysOf = (addresses: string[], task: string) =>
      new Set(
        addresses.filter((one) => one.startsWith(`${task}@`)).map((one) => one.slice(task.length + 1, task.length + 2)),
      );
    const seeds = Array.from({ length: 20 }, (_, index) => drawn(1, String(index)));
    for (const one of seeds) expect(keysOf(one, 'hero')).toEqual(keysOf(one, 'teaser'));
    expect(new Set(seeds.map((one) => [...keysOf(one, 'hero')].join())).size).toBe(4);
    // By a digest of key and seed alone, so that every machine draws these.
    expect([...keysOf(drawn(2, 'spring'), 'hero')]).toMatchInlineSnapshot(`
      [
        "b",
        "c",
      ]
    `);
  });

  test('grows: who asks for more rows keeps those that he had', () => {
    for (const count of [1, 2, 3]) expect(drawn(count + 1)).toEqual(expect.arrayContaining(drawn(count)));
  });

  test('stays within what is chosen', () => {
    const heroes = new Set(graph.steps.flatMap(({ task, address }) => (task === 'hero' ? [address] : [])));
    expect([...(sampleSteps(graph, { is: 'first', count: 1 }, heroes) ?? [])]).toEqual(['hero@a,1:1', 'hero@a,9:16']);
  });

  test('needs a task that fans out', () => {
    expect(sampleSteps(graph, { is: 'first', count: 1 }, new Set(['logo', 'jingle']))).toBeUndefined();
  });
});
