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
const drawn = (count: number) => [...(sampleSteps(graph, { is: 'drawn', count }) ?? [])].sort();

describe('a trial', () => {
  test('has the first rows of each task, whole, with what they need, and the single steps that lack nothing', () => {
    expect(first(1)).toEqual(['hero@a,1:1', 'hero@a,9:16', 'hero@d,9:16', 'jingle', 'logo', 'teaser@d'].sort());
  });

  test('is everything when there are no more rows', () => {
    expect(first(4)).toEqual(graph.steps.map(({ address }) => address).sort());
    expect(drawn(9)).toEqual(first(4));
  });

  test('draws the same rows for every task, on every machine', () => {
    const keysOf = (task: string) =>
      drawn(2).flatMap((one) => (one.startsWith(`${task}@`) ? [one.slice(task.length + 1, task.length + 2)] : []));
    expect(new Set(keysOf('hero'))).toEqual(new Set(keysOf('teaser')));
    // By a digest of the key alone.
    expect([...new Set(keysOf('hero'))]).toMatchInlineSnapshot(`
      [
        "a",
        "b",
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
