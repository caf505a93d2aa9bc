import type { Gate, Graph } from '../../graph/graph.ts';
import { groupBy } from '../../ground/values.ts';
import type { Plan, PlanRow } from '../../plan/plan.ts';
import { listCharges } from '../../plan/prices/list-charges.ts';
import type { DecidedGate, GateState } from '../../plan/situation/decided-graph.ts';
import type { Match } from '../../plan/situation/find-purchases.ts';
import type { Situation } from '../../plan/situation/situation.ts';
import { type StepState, stateOfStep, stepStates } from '../../plan/situation/step-state.ts';
import { findLinks, gateId, type Link } from './diagram-links.ts';

/** The first steps of a task go alone. `open`: the others wait for them; `proven`: nothing waits any more. */
export interface CanaryMark {
  /** Condition that the others wait for: that these are done and fit, or that people have picked them. */
  rule: 'check' | 'ask';
  state: 'open' | 'proven';
}

/** A campaign as nodes and edges, from what is on record. */
export interface Diagram {
  campaign: string;
  /** `task`: a node for each task, `step`: one for each step. */
  by: 'task' | 'step';
  /** Tasks as written, or steps in the graph's order, each followed by its gates. */
  nodes: DiagramNode[];
  /** Edges in the order of their ends in `nodes`. There are no circles. */
  edges: DiagramEdge[];
}

export type DiagramNode = WorkNode | GateNode;

/** A task, or one step. */
export interface WorkNode {
  is: 'task' | 'step';
  /** The name of the task, or the address. Unique among all nodes. */
  id: string;
  task: string;
  kind: string;
  description?: string;
  steps: number;
  states: { [state in StepState]: number };
  credits: DiagramCredits;
  /**
   * Its steps are parts of other steps' outputs. `open`: `steps` is the most that there may be; `known`: what they are
   * parts of is done.
   */
  fanOut?: 'open' | 'known';
  /** Mark of a canary; a step has it only while it is among those that go first. */
  canary?: CanaryMark;
}

export interface DiagramCredits {
  spent: number;
  /** Prices of creates whose outcome is not known, as far as they are known. */
  held: number;
  /** Certain prices of what a run would buy now. */
  toSpend: number;
  /** Expected cost, in the same run, of steps without a certain price. */
  expected: number;
  /** Prices, certain or expected, of what is blocked at a gate or by the budget. */
  waiting: number;
  /** Steps of which nobody knows what they cost. */
  unpriced: number;
}

/** The gates of a task, or one gate. */
export interface GateNode {
  is: 'gate';
  /** `gate:` and the name of the task or of the gate. */
  id: string;
  task: string;
  asks: Exclude<Gate['is'], 'canary'>;
  /** How many are to be picked at each. */
  choose: number;
  /** How many gates there are, by what people have decided. */
  states: { [state in GateState['is']]: number };
}

export interface DiagramEdge {
  /** Ids of nodes: what is used comes first. */
  from: string;
  to: string;
  links: Link[];
}

export interface DiagramFacts {
  situation: Situation;
  /** Plan of all steps. */
  plan: Pick<Plan, 'rows' | 'gates'>;
  /** Limits the nodes. Absent: all steps. */
  selected?: ReadonlySet<string> | undefined;
  by: Diagram['by'];
}

/** Pure: the same facts always give the same diagram. */
export function makeDiagram(facts: DiagramFacts): Diagram {
  const { situation, by } = facts;
  const { written: graph } = situation;
  const steps = graph.steps.filter(({ address }) => facts.selected?.has(address) ?? true);
  const shown = new Set(steps.map(({ address }) => address));
  const gates = (graph.gates ?? []).filter(({ members }) => members.some((address) => shown.has(address)));
  const work = workNodes(facts, shown);
  const homes = new Map(by === 'step' ? gates.map((gate) => [gateId(gate.name), homeOf(gate, shown)]) : []);
  const gatesOf = groupBy(
    gateNodes(gates, { decided: situation.graph.gates, by }),
    ({ id, task }) => homes.get(id) ?? task,
  );
  const nodes = work.flatMap((node) => [node, ...(gatesOf.get(node.id) ?? [])]);
  const position = new Map(nodes.map(({ id }, index) => [id, index]));
  const at = (id: string) => position.get(id) ?? 0;
  const edges = findLinks(graph, { shown, gates, by }).sort((a, b) => at(a.from) - at(b.from) || at(a.to) - at(b.to));
  return { campaign: graph.name, by, nodes, edges };
}

/** A gate of several steps stands behind the last of them that is shown. */
function homeOf({ members }: Gate, shown: ReadonlySet<string>): string | undefined {
  return members.findLast((address) => shown.has(address));
}

function workNodes({ situation, plan, by, selected }: DiagramFacts, shown: ReadonlySet<string>): WorkNode[] {
  const { written: graph, matches, byAddress } = situation;
  const tasks = new Map(graph.tasks.map((task) => [task.id, task]));
  const nodes = new Map<string, WorkNode>();
  if (by === 'task') {
    const used = new Set(matches.flatMap(({ step }) => (shown.has(step.address) ? [step.task] : [])));
    for (const { id, kind, description } of graph.tasks) {
      if (used.has(id)) nodes.set(id, emptyNode({ is: 'task', id, task: id, kind, description }));
    }
  }
  for (const match of matches) {
    const { address, task, kind, part } = match.step;
    if (!shown.has(address)) continue;
    const id = by === 'task' ? task : address;
    const { description } = tasks.get(task) ?? {};
    const node = nodes.get(id) ?? emptyNode({ is: 'step', id, task, kind, description });
    nodes.set(id, node);
    node.steps += 1;
    node.states[stateOfStep(match, situation)] += 1;
    if (part !== undefined && node.fanOut !== 'open') node.fanOut = isDone(byAddress.get(part.of)) ? 'known' : 'open';
  }
  const isWhole = by === 'task' && selected === undefined;
  for (const { address, task, went, credits } of listCharges(situation)) {
    // A task was charged for rows that it no longer has, too.
    const sums = isWhole || shown.has(address) ? nodes.get(by === 'task' ? task : address)?.credits : undefined;
    if (sums !== undefined) sums[went === 'held' ? 'held' : 'spent'] += credits ?? 0;
  }
  for (const row of plan.rows) {
    const sums = shown.has(row.address) ? nodes.get(by === 'task' ? row.task : row.address)?.credits : undefined;
    if (sums !== undefined) addRow(sums, row);
  }
  for (const [id, canary] of findCanaryMarks(graph, plan, by)) {
    const node = nodes.get(id);
    if (node !== undefined) node.canary = canary;
  }
  return [...nodes.values()];
}

function addRow(sums: DiagramCredits, { action, credits, wouldCost, price }: PlanRow): void {
  const isBlocked = action === 'blocked' && wouldCost !== undefined;
  const certain = isBlocked ? wouldCost : credits;
  const amount = certain ?? price?.likely;
  if (amount === undefined) sums.unpriced += 1;
  else if (isBlocked) sums.waiting += amount;
  else sums[certain === null ? 'expected' : 'toSpend'] += amount;
}

function isDone(match: Match | undefined): boolean {
  return match?.purchase?.state === 'done';
}

function emptyNode({
  description,
  ...node
}: Pick<WorkNode, 'is' | 'id' | 'task' | 'kind'> & { description?: string | undefined }): WorkNode {
  return {
    ...node,
    ...(description !== undefined && { description }),
    steps: 0,
    states: Object.fromEntries(stepStates.map((state) => [state, 0])) as WorkNode['states'],
    credits: { spent: 0, held: 0, toSpend: 0, expected: 0, waiting: 0, unpriced: 0 },
  };
}

function gateNodes(
  gates: readonly Gate[],
  { decided, by }: { decided: readonly DecidedGate[]; by: Diagram['by'] },
): GateNode[] {
  const names = new Set(gates.map(({ name }) => name));
  const nodes = new Map<string, GateNode>();
  for (const { name, task, is, choose, state } of decided) {
    // Canaries are marked on what they are about: it is the rest of the same task that waits for them.
    if (!names.has(name) || is === 'canary') continue;
    const id = gateId(by === 'task' ? task : name);
    const states = { decided: 0, open: 0, contested: 0, rejected: 0 };
    const node = nodes.get(id) ?? { is: 'gate', id, task, asks: is, choose, states };
    nodes.set(id, node);
    node.states[state.is] += 1;
  }
  return [...nodes.values()];
}

/** The marks of nodes, by task or, of those steps that go first in the next run, by address. */
function findCanaryMarks(
  { canaries = [] }: Graph,
  { rows, gates = [] }: Pick<Plan, 'rows' | 'gates'>,
  by: 'task' | 'step',
): ReadonlyMap<string, CanaryMark> {
  if (canaries.length === 0) return new Map();
  const rules = new Map(canaries.map(({ task, asks }) => [task, asks ? ('ask' as const) : ('check' as const)]));
  const asked = gates.filter(({ is }) => is === 'canary');
  if (by === 'step') {
    const first = rows.flatMap(({ address, task, canary }) => (canary === true ? [{ address, task }] : []));
    const toSee = asked.flatMap(({ task, members }) => members.map((address) => ({ address, task })));
    return new Map(
      [...first, ...toSee].map(({ address, task }) => [address, { rule: rules.get(task) ?? 'check', state: 'open' }]),
    );
  }
  const waiting = rows.filter(({ canaries: own, reason }) => own !== undefined || reason.code === 'canary');
  const open = new Set([...waiting, ...asked].map(({ task }) => task));
  return new Map([...rules].map(([task, rule]) => [task, { rule, state: open.has(task) ? 'open' : 'proven' }]));
}
