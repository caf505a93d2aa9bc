import type { Graph, Step } from '../graph/graph.ts';
import { type Condition, parseSelection, type Selection } from './parse-selection.ts';
import type { StepState } from './step-state.ts';

export interface SelectionFacts {
  graph: Graph;
  stateOf(address: string): StepState;
  /** Credits of the step's next purchase; `null`: unknown. */
  costOf(address: string): number | null | undefined;
}

/** The addresses that a selection names. A problem is that of a named selection that it uses. */
export function matchSelection(selection: Selection, facts: SelectionFacts): Set<string> | { problem: string } {
  return new Matching(facts).match(selection, []);
}

class Matching {
  readonly #facts: SelectionFacts;
  #users: Map<string, string[]> | undefined;

  constructor(facts: SelectionFacts) {
    this.#facts = facts;
  }

  /** `trail`: the named selections that led here. */
  match(selection: Selection, trail: readonly string[]): Set<string> | { problem: string } {
    const chosen = new Set<string>();
    for (const term of selection.terms) {
      let common: Set<string> | undefined;
      for (const condition of term) {
        const found = this.#find(condition, trail);
        if (!(found instanceof Set)) return found;
        common = common === undefined ? found : new Set([...common].filter((address) => found.has(address)));
      }
      for (const address of common ?? []) chosen.add(address);
    }
    return chosen;
  }

  #find(condition: Condition, trail: readonly string[]): Set<string> | { problem: string } {
    const { graph, stateOf, costOf } = this.#facts;
    switch (condition.is) {
      case 'name':
        return this.#findByName(condition);
      case 'kind':
        return this.#where(({ kind }) => fits(kind, condition.pattern));
      case 'tag':
        return this.#where(({ tags }) => tags.some((tag) => fits(tag, condition.pattern)));
      case 'state':
        return this.#where(({ address }) => stateOf(address) === condition.state);
      case 'cost':
        return this.#where(({ address }) => compareCost(costOf(address) ?? null, condition));
      case 'selector': {
        const { name } = condition;
        const text = Object.hasOwn(graph.selectors, name) ? graph.selectors[name] : undefined;
        if (text === undefined) {
          const known = Object.keys(graph.selectors);
          const list = known.length === 0 ? 'the manifest has no `selectors`' : `there are ${known.join(', ')}`;
          return { problem: `there is no selector \`${name}\`; ${list}` };
        }
        if (trail.includes(name)) {
          return { problem: `selectors use each other in a circle: ${[...trail, name].join(' → ')}` };
        }
        const parsed = parseSelection(text);
        if ('problem' in parsed) return { problem: `in the selector \`${name}\`: ${parsed.problem}` };
        return this.match(parsed, [...trail, name]);
      }
      default:
        return condition satisfies never;
    }
  }

  #findByName({ pattern, needs, users }: Extract<Condition, { is: 'name' }>): Set<string> {
    const chosen = this.#where(({ address, task }) => fits(address, pattern) || fits(task, pattern));
    const both = new Set(chosen);
    if (needs) {
      const steps = new Map(this.#facts.graph.steps.map((step) => [step.address, step]));
      follow(chosen, both, (address) => steps.get(address)?.needs ?? []);
    }
    if (users) follow(chosen, both, (address) => this.#usersOf(address));
    return both;
  }

  #usersOf(address: string): readonly string[] {
    if (this.#users === undefined) {
      this.#users = new Map();
      for (const step of this.#facts.graph.steps) {
        for (const need of step.needs) this.#users.set(need, [...(this.#users.get(need) ?? []), step.address]);
      }
    }
    return this.#users.get(address) ?? [];
  }

  #where(holds: (step: Step) => boolean): Set<string> {
    return new Set(this.#facts.graph.steps.filter(holds).map(({ address }) => address));
  }
}

/** Adds everything that can be reached from `start`. */
function follow(start: ReadonlySet<string>, into: Set<string>, next: (address: string) => readonly string[]): void {
  const open = [...start];
  const seen = new Set(open);
  for (let address = open.pop(); address !== undefined; address = open.pop()) {
    into.add(address);
    for (const other of next(address)) {
      if (seen.has(other)) continue;
      seen.add(other);
      open.push(other);
    }
  }
}

/** `*` stands for anything; the rest is taken as it is. Without backtracking, whatever the pattern. */
function fits(text: string, pattern: string): boolean {
  const parts = pattern.split('*');
  const [first = '', ...others] = parts;
  if (others.length === 0) return text === pattern;
  const last = others.pop() ?? '';
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

function compareCost(cost: number | null, { operator, credits }: Extract<Condition, { is: 'cost' }>): boolean {
  if (cost === null || credits === null) return cost === credits;
  switch (operator) {
    case '>':
      return cost > credits;
    case '>=':
      return cost >= credits;
    case '<':
      return cost < credits;
    case '<=':
      return cost <= credits;
    case '=':
      return cost === credits;
    default:
      return operator satisfies never;
  }
}
