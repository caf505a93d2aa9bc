import type { Gate, GateState, Graph, OpenRequest, Step } from '../graph/graph.ts';
import { fingerprintChoice } from '../graph/render/fingerprint.ts';
import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import { type Seen, stateOfGate, Verdicts } from './gates.ts';

/**
 * Follows the gates of a graph while its steps are decided one after the other, needs first: a gate's steps precede what
 * hangs on it.
 */
export class GateKeeper {
  readonly #gates: readonly Gate[];
  readonly #verdicts: Verdicts;
  readonly #byName: ReadonlyMap<string, Gate>;
  readonly #byMember = new Map<string, Gate>();
  readonly #seen = new Map<string, Seen>();
  readonly #states = new Map<Gate, GateState>();

  constructor(graph: Graph, lock: Lock, redo: ReadonlySet<string>) {
    const { gates = [] } = graph;
    this.#gates = gates;
    this.#verdicts = new Verdicts(graph, lock, redo);
    this.#byName = new Map(gates.map((gate) => [gate.name, gate]));
    for (const gate of gates) for (const member of gate.members) this.#byMember.set(member, gate);
  }

  /** Looks at a step as it was decided. */
  see(step: Step): void {
    if (this.#byMember.has(step.address)) this.#seen.set(step.address, this.#verdicts.of(step));
  }

  /** Puts what is picked in the place of references to gates. What hangs on an open gate is told to wait. */
  resolve(step: Step): Step {
    const gates = new Set(step.needs.flatMap((address) => this.#byMember.get(address) ?? []));
    if (gates.size === 0) return step;
    const request = this.#replacePicks(step.request) as OpenRequest;
    const needs = step.needs.filter((address) => this.#isNeeded(address));
    const waits = [...gates].filter((gate) => this.stateOf(gate).is !== 'decided').map(({ name }) => name);
    return { ...step, request, needs, ...(waits.length > 0 && { waits }) };
  }

  stateOf(gate: Gate): GateState {
    const known = this.#states.get(gate);
    if (known !== undefined) return known;
    const state = stateOfGate(gate, (address) => this.#seen.get(address) ?? 'none');
    this.#states.set(gate, state);
    return state;
  }

  /** The gates with their states, when every step was seen. */
  decided(): Gate[] {
    return this.#gates.map((gate) => ({ ...gate, state: this.stateOf(gate) }));
  }

  /** Stands for what is not picked yet. Absent: it is no gate. */
  fingerprintOf(name: string, known: ReadonlyMap<string, string>): string | undefined {
    const gate = this.#byName.get(name);
    return gate && fingerprintChoice(gate.members.map((address) => known.get(address) ?? ''));
  }

  /** What was not picked need not be there. */
  #isNeeded(address: string): boolean {
    const gate = this.#byMember.get(address);
    const state = gate && this.stateOf(gate);
    return state?.is !== 'decided' || state.picked.includes(address);
  }

  #replacePicks(value: Json): Json {
    if (Array.isArray(value)) return value.map((item) => this.#replacePicks(item));
    if (!isMap(value)) return value;
    const gate = typeof value.pick === 'number' ? this.#byName.get(String(value.$ref)) : undefined;
    if (gate === undefined || typeof value.pick !== 'number') {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#replacePicks(item)]));
    }
    const state = this.stateOf(gate);
    const picked = state.is === 'decided' ? state.picked[value.pick - 1] : undefined;
    return picked === undefined ? value : { $ref: picked, field: value.field ?? 'url' };
  }
}
