import { expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import { parseSelection } from '../../../src/plan/select/parse-selection.ts';
import { matchSelection, type SelectionFacts, sampleSteps, vocabularyOf } from '../../../src/plan/select/select.ts';
import { load, tasks } from '../manifest/load.ts';
import { lockOf, output, planOf, saved } from './facts.ts';

const many = 400;
const rows = `foreach: [${Array.from({ length: many }, (_, index) => `r${index}`).join(', ')}]`;
const song = 'with: { model: song-7.5, prompt:';

/** A gate that asks about all of one task, and another task as large behind it. */
function graphOf(behind: string): Graph {
  const { graph, found } = load(
    tasks(
      `  hero: { kind: music, ${rows}, gate: { choose: 1, among: all }, ${song} "hero {{row}}" } }`,
      `  use: { kind: music, ${rows}, ${behind} }`,
    ),
  );
  if (graph === undefined) throw new Error(found.join());
  return graph;
}

/** The graph, and how many members of its gates were read. */
function counted(graph: Graph): { graph: Graph; reads: () => number } {
  let reads = 0;
  const gates = graph.gates?.map((gate) => ({
    ...gate,
    members: new Proxy(gate.members, {
      get(target, name, receiver) {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
        return Reflect.get(target, name, receiver);
      },
    }),
  }));
  return { graph: { ...graph, ...(gates && { gates }) }, reads: () => reads };
}

test.each([
  ['refer to what is picked', `${song} "{{row}} {{tasks.hero.url}}" }`],
  ['only need it', `needs: [hero], ${song} "{{row}}" }`],
])('thousands behind a gate of thousands: what is looked at grows with their sum, where they %s', (_how, behind) => {
  const written = graphOf(behind);
  expect(written.steps.reduce((sum, { needs }) => sum + needs.length, 0)).toBe(many);
  const bought = lockOf(
    Object.fromEntries(
      written.steps
        .filter(({ task }) => task === 'hero')
        .map((step) => [step.address, [saved(step, { outputs: [output(`${step.save}.mp3`)] })]]),
    ),
  );
  const picked = structuredClone(bought);
  const record = picked.steps.get('hero@r7');
  const [{ fingerprint = '', jobId: job = '' } = {}] = record?.purchases ?? [];
  if (record !== undefined) record.decisions = { verdicts: [{ fingerprint, job, is: 'picked', revision: 1 }] };
  for (const [lock, rest] of [
    [lockOf({}), 'blocked'],
    [bought, 'blocked'],
    [picked, 'create'],
  ] as const) {
    const { graph, reads } = counted(written);
    const { rows: told } = planOf(graph, lock);
    expect(told.filter(({ task, action }) => task === 'use' && action === rest)).toHaveLength(many);
    expect(reads()).toBeLessThan(20 * many);
  }
});

test('selections and trials go through a gate once', () => {
  const { graph, reads } = counted(graphOf(`${song} "{{row}} {{tasks.hero.url}}" }`));
  const facts: SelectionFacts = { graph, stateOf: () => 'not-bought', costOf: () => 4 };
  const find = (text: string) => {
    const selection = parseSelection(text, vocabularyOf(graph));
    if ('problem' in selection) throw new Error(selection.problem);
    const found = matchSelection(selection, facts);
    return found instanceof Set ? found.size : found.problem;
  };
  expect(find('+use')).toBe(2 * many);
  expect(find('+use@r3')).toBe(many + 1);
  expect(find('hero@r3+')).toBe(many + 1);
  expect(sampleSteps(graph, { is: 'first', count: 1 })?.size).toBe(many + 1);
  expect(reads()).toBeLessThan(20 * many);
});
