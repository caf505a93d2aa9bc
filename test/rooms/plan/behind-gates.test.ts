import { expect, test } from 'vitest';
import { findBehind } from '../../../src/plan/gates/block-at-gates.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { gatesToDecide } from '../../../src/plan/situation/verdicts.ts';
import { load } from '../manifest/load.ts';
import { lockOf, planOf, saved, stepOf } from './facts.ts';

function graphOf(...tasks: string[]) {
  const { graph, found } = load(`version: 1\nname: test\ntasks:\n${tasks.map((task) => `  ${task}\n`).join('')}`);
  if (graph === undefined) throw new Error(found.join());
  return graph;
}

const song = 'kind: music, with: { model: song-7.5, prompt:';

test('behind the gate of one key is what is made of that key, and no other step of the task', () => {
  const graph = graphOf(
    `hero: { foreach: [a, b], key: "{{row}}", takes: 2, gate: { choose: 1 }, ${song} "{{row}}" } }`,
    `card: { foreach: [a, b], key: "{{row}}", ${song} "{{row}} {{tasks.hero.url}}" } }`,
  );
  const { gates = [] } = graph;
  const open = gates.filter(({ name }) => name === 'hero@a');
  expect(open).toHaveLength(1);
  expect([...findBehind(graph, open)]).toEqual(['card@a']);
});

test('behind a canary are the others of its price, and what is made from them', () => {
  const graph = graphOf(
    `hero: { foreach: [a, b, c], key: "{{row}}", canary: { then: ask }, ${song} "{{row}}" } }`,
    `card: { foreach: [a, b, c], key: "{{row}}", ${song} "{{row}} {{tasks.hero.url}}" } }`,
    `apart: { foreach: [a, b], key: "{{row}}", ${song} "apart {{row}}" } }`,
  );
  const { gates = [] } = planOf(graph, lockOf({}));
  expect(gates.map(({ members }) => members)).toEqual([['hero@a']]);
  expect([...findBehind(graph, gates)].sort()).toEqual(['card@a', 'card@b', 'card@c', 'hero@b', 'hero@c']);
});

test('a pinned take can be decided about, although all are to be bought anew', () => {
  const graph = graphOf(`hero: { takes: 2, gate: { choose: 1 }, ${song} a } }`);
  const addresses = ['hero/1', 'hero/2'];
  const lock = lockOf(Object.fromEntries(addresses.map((address) => [address, [saved(stepOf(graph, address))]])));
  const [record] = lock.steps.values();
  const redo = new Set(addresses);
  const namesOf = () => {
    const decided = situate(graph, lock, { redo });
    return gatesToDecide(planOf(graph, lock, { redo }), { graph: decided.graph, lock, redo }).map(({ name }) => name);
  };
  expect(namesOf()).toEqual([]);
  const { fingerprint } = stepOf(graph, 'hero/1');
  if (record !== undefined) record.decisions = { pin: { fingerprint, revision: 1 } };
  expect(namesOf()).toEqual(['hero']);
});
