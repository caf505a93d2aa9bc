import type { Gate, Graph, Step } from '../../graph/graph.ts';
import type { Json } from '../../ground/json.ts';

/**
 * How steps use others. `by`: the names (`key`, axes of the matrix) in which both are equal.
 * `one`: each uses one step. `several`, `all`: each uses a list of some, or of all steps. `part`: each is a part of the
 * other's output. `needs`: each only comes after it. `gate`: a person decides which are used.
 */
export type Link = { is: 'one' | 'several' | 'needs'; by: string[] } | { is: 'all' } | { is: 'part' } | { is: 'gate' };

/** The id of a gate's node. No task is named so. */
export function gateId(name: string): string {
  return `gate:${name}`;
}

type Named = Pick<Step, 'key' | 'matrix'>;

interface Found {
  from: string;
  to: string;
  /** Names in which all that was seen so far is equal, by kind of link. */
  links: Map<Link['is'], readonly string[]>;
}

/** Finds the edges among the shown steps. A gate stands between its steps and whatever uses them. */
export function findLinks(
  graph: Graph,
  of: { shown: ReadonlySet<string>; gates: readonly Gate[]; by: 'task' | 'step' },
): { from: string; to: string; links: Link[] }[] {
  const { shown, gates, by } = of;
  const producers = new Producers(graph);
  const edges = new Map<string, Found>();
  const add = (from: string, to: string, is: Link['is'], names: readonly string[]) => {
    const id = JSON.stringify([from, to]);
    const edge = edges.get(id) ?? { from, to, links: new Map() };
    edges.set(id, edge);
    const before = edge.links.get(is);
    edge.links.set(is, before === undefined ? names : before.filter((name: string) => names.includes(name)));
  };
  const nodeOf = (step: Pick<Step, 'address' | 'task'>) => (by === 'task' ? step.task : step.address);
  const gateOf = ({ name, task }: Gate) => gateId(by === 'task' ? task : name);
  for (const gate of gates) {
    for (const address of gate.members) {
      if (shown.has(address)) add(by === 'task' ? gate.task : address, gateOf(gate), 'gate', []);
    }
  }
  for (const step of graph.steps) {
    if (!shown.has(step.address)) continue;
    for (const { is, address, names } of usesOf(step, producers)) {
      const gate = producers.gateOf(address);
      const members = gate?.members ?? [address];
      if (!members.some((member) => shown.has(member))) continue;
      const used = producers.stepOf(members[0] ?? '');
      if (gate !== undefined) add(gateOf(gate), nodeOf(step), is, names);
      else if (used !== undefined) add(nodeOf(used), nodeOf(step), is, names);
    }
  }
  return [...edges.values()].map(({ from, to, links }) => ({ from, to, links: [...links].map(linkOf) }));
}

function linkOf([is, by]: [Link['is'], readonly string[]]): Link {
  switch (is) {
    case 'one':
    case 'several':
    case 'needs':
      return { is, by: [...by] };
    default:
      return { is };
  }
}

/** Index of what steps use: other steps, or gates by their name. */
class Producers {
  readonly #steps: ReadonlyMap<string, Step>;
  readonly #gates = new Map<string, Gate>();
  readonly #counts = new Map<string, number>();
  readonly #common = new Map<string, Named>();

  constructor({ steps, gates = [] }: Graph) {
    this.#steps = new Map(steps.map((step) => [step.address, step]));
    const chosen = new Set<string>();
    for (const gate of gates) {
      for (const address of gate.members) this.#gates.set(address, gate);
      if (gate.is !== 'choose') continue;
      this.#gates.set(gate.name, gate);
      chosen.add(gate.task);
      this.#counts.set(gate.task, (this.#counts.get(gate.task) ?? 0) + 1);
    }
    for (const { task } of steps) {
      if (!chosen.has(task)) this.#counts.set(task, (this.#counts.get(task) ?? 0) + 1);
    }
  }

  stepOf(address: string): Step | undefined {
    return this.#steps.get(address);
  }

  gateOf(address: string): Gate | undefined {
    return this.#gates.get(address);
  }

  taskOf(address: string): string {
    return this.#steps.get(address)?.task ?? this.#gates.get(address)?.task ?? '';
  }

  /** How many steps a list of all of a task has; of one with a gate that chooses, how many gates. */
  countOf(task: string): number {
    return this.#counts.get(task) ?? 0;
  }

  /** The names in which a step and what it uses are equal. */
  equalNames(user: Step, address: string): string[] {
    const used = this.#steps.get(address) ?? this.#commonOf(address);
    if (used === undefined) return [];
    const axes = Object.keys(user.matrix).filter((axis) => user.matrix[axis] === used.matrix[axis]);
    return user.key !== undefined && user.key === used.key ? ['key', ...axes] : axes;
  }

  /** Finds what the steps of a gate have in common. */
  #commonOf(name: string): Named | undefined {
    const known = this.#common.get(name);
    if (known !== undefined) return known;
    const [first, ...others] = (this.#gates.get(name)?.members ?? []).flatMap(
      (member) => this.#steps.get(member) ?? [],
    );
    if (first === undefined) return undefined;
    const { key } = first;
    const axes = Object.entries(first.matrix).filter(([axis, value]) =>
      others.every((one) => one.matrix[axis] === value),
    );
    const isCommon = key !== undefined && others.every((one) => one.key === key);
    const common = { matrix: Object.fromEntries(axes), ...(isCommon && { key }) };
    this.#common.set(name, common);
    return common;
  }
}

interface Use {
  is: Link['is'];
  /** Address of a step, or the name of a gate. */
  address: string;
  names: readonly string[];
}

function usesOf(step: Step, producers: Producers): Use[] {
  const uses: Use[] = [];
  const used = new Set<string>();
  const { part, request, needs } = step;
  if (part !== undefined) uses.push({ is: 'part', address: part.of, names: [] });
  for (const { address, list } of findUses(request, producers)) {
    used.add(address);
    if (address === part?.of) continue;
    const is = list === undefined ? 'one' : list === producers.countOf(producers.taskOf(address)) ? 'all' : 'several';
    uses.push({ is, address, names: is === 'all' ? [] : producers.equalNames(step, address) });
  }
  for (const address of needs) {
    if (used.has(address) || address === part?.of) continue;
    uses.push({ is: 'needs', address, names: producers.equalNames(step, address) });
  }
  return uses;
}

/** The references of a request; `list`: how many of one task stand in the same list. */
function findUses(request: Json, producers: Producers): { address: string; list?: number }[] {
  const uses: { address: string; list?: number }[] = [];
  const visit = (value: Json): void => {
    if (value === null || typeof value !== 'object') return;
    if (Array.isArray(value)) {
      const byTask = new Map<string, Set<string>>();
      for (const item of value) {
        const address = referenceIn(item);
        if (address === undefined) {
          visit(item);
          continue;
        }
        const task = producers.taskOf(address);
        const known = byTask.get(task);
        if (known === undefined) byTask.set(task, new Set([address]));
        else known.add(address);
      }
      for (const addresses of byTask.values()) {
        const list = addresses.size > 1 ? { list: addresses.size } : {};
        for (const address of addresses) uses.push({ address, ...list });
      }
      return;
    }
    const address = referenceIn(value);
    if (address !== undefined) uses.push({ address });
    else if (Array.isArray(value.$text)) for (const piece of value.$text) visit(piece);
    else for (const item of Object.values(value)) visit(item);
  };
  visit(request);
  return uses;
}

function referenceIn(value: Json): string | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  return typeof value.$ref === 'string' ? value.$ref : undefined;
}
