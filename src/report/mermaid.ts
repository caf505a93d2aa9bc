import type { Step } from '../graph/graph.ts';
import { listCharges } from '../plan/prices/charges.ts';
import { type Situation, type StepState, stateOfStep, stepStates } from '../plan/situation/situation.ts';
import { countOf, countWords, creditsText } from './numbers.ts';
import { safeText } from './safe-text.ts';

export const mermaidLimits = { edges: 500, characters: 50_000 } as const;

interface Node {
  name: string;
  kind: string;
  states: Map<StepState, number>;
  spent: number;
  /** Known prices of create requests whose outcome is unknown, in credits. */
  held: number;
}

/**
 * Draws a campaign as a Mermaid flowchart with a node for each task, or for each step if `bySteps`. Undefined if the
 * flowchart exceeds `mermaidLimits`. `selected`: addresses of the steps to draw. If undefined, all steps.
 */
export function mermaidText(
  situation: Situation,
  { selected, bySteps }: { selected: ReadonlySet<string> | undefined; bySteps: boolean },
): string | undefined {
  const steps = situation.written.steps.filter(({ address }) => selected?.has(address) ?? true);
  const idOf = ({ address, task }: Pick<Step, 'address' | 'task'>) => (bySteps ? address : task);
  const nodes = new Map<string, Node>();
  for (const step of steps) {
    const id = idOf(step);
    const node = nodes.get(id) ?? { name: id, kind: step.kind, states: new Map(), spent: 0, held: 0 };
    nodes.set(id, node);
    const state = stateOfStep(situation.byAddress.get(step.address), situation);
    node.states.set(state, (node.states.get(state) ?? 0) + 1);
  }
  const shown = new Set(steps.map(({ address }) => address));
  for (const charge of listCharges(situation)) {
    // The charges of a task include those of its orphans.
    const node = selected === undefined || shown.has(charge.address) ? nodes.get(idOf(charge)) : undefined;
    if (node !== undefined) node[charge.went === 'held' ? 'held' : 'spent'] += charge.credits ?? 0;
  }
  const names = new Map([...nodes.keys()].map((id, index) => [id, `n${index}`]));
  const edges = findEdges(situation, { shown, idOf, names });
  if (edges === undefined) return undefined;
  const lines = [
    'flowchart LR',
    // Mermaid does not support entity codes in a title.
    `  accTitle: ${safeText(situation.written.name).replace(special, ' ')}`,
    ...[...nodes].map(
      ([id, node]) => `  ${names.get(id)}["${labelOf(node, bySteps).map(withEntities).join('<br/>')}"]`,
    ),
    ...edges,
  ];
  const text = `${lines.join('\n')}\n`;
  return text.length > mermaidLimits.characters ? undefined : text;
}

interface EdgeFacts {
  shown: ReadonlySet<string>;
  idOf(step: Step): string;
  names: ReadonlyMap<string, string>;
}

/**
 * Returns edges from each step to its dependents. A step that uses the picks of a gate has an edge from each step of
 * the gate. Undefined if there are too many edges.
 */
function findEdges({ written }: Situation, { shown, idOf, names }: EdgeFacts): string[] | undefined {
  const steps = new Map(written.steps.flatMap((step) => (shown.has(step.address) ? [[step.address, step]] : [])));
  const sources = new Map<string, Set<string>>();
  for (const address of steps.keys()) addSource(address, address);
  for (const { name, members } of written.gates ?? []) for (const address of members) addSource(name, address);
  function addSource(name: string, address: string): void {
    const step = steps.get(address);
    if (step !== undefined) sources.set(name, (sources.get(name) ?? new Set()).add(idOf(step)));
  }
  const edges = new Set<string>();
  for (const step of steps.values()) {
    for (const from of step.needs.flatMap((need) => [...(sources.get(need) ?? [])])) {
      edges.add(`  ${names.get(from)} --> ${names.get(idOf(step))}`);
      if (edges.size > mermaidLimits.edges) return undefined;
    }
  }
  return [...edges];
}

const longestName = 100;

function labelOf({ name, kind, states, spent, held }: Node, isStep: boolean): string[] {
  const counts = stepStates.flatMap((state) => {
    const count = states.get(state) ?? 0;
    const word = state.replace('-', ' ');
    return count === 0 ? [] : [isStep ? word : `${creditsText(count)} ${word}`];
  });
  const steps = [...states.values()].reduce((sum, count) => sum + count, 0);
  return [
    safeText(name, longestName),
    `${safeText(kind, longestName)}${isStep ? '' : ` · ${countOf(steps, 'step')}`}`,
    counts.join(' · '),
    ...countWords([
      [spent, 'cr spent'],
      [held, 'cr reserved'],
    ]),
  ];
}

const special = /[^\p{L}\p{M}\p{N} .,/@+·…-]/gu;

function withEntities(text: string): string {
  return text.replace(special, (character) => `#${character.codePointAt(0)};`);
}
