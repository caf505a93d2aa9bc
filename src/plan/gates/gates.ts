import type { Gate, OpenRequest, Step } from '../../graph/graph.ts';
import { fingerprintChoice } from '../../graph/render/fingerprint.ts';
import type { Json } from '../../ground/json.ts';
import { defined, isMap } from '../../ground/values.ts';
import { verdictIn } from '../../lock/decisions.ts';
import type { Lock } from '../../lock/record.ts';
import {
  type DecidedGate,
  type DecidedStep,
  type GateState,
  type Match,
  purchaseOf,
  type Seen,
} from '../situation/find-purchases.ts';
import { isRedone, type Verdicts } from '../situation/verdicts.ts';

export type SeenAtGates = ReadonlyMap<string, Seen>;

export function seeAtGates(matches: readonly Match[], verdicts: Verdicts, gates: readonly Gate[]): SeenAtGates {
  const gateOf = gatesByMember(gates);
  const asked = matches.filter(({ step }) => gateOf.has(step.address));
  return new Map(asked.map((match) => [match.step.address, verdicts.seen(match)]));
}

export function unpickedAt(gates: readonly DecidedGate[], seen: SeenAtGates): Set<string> {
  const unpicked = gates.flatMap(({ members, state }) =>
    members.filter((address) => {
      const is = seen.get(address) ?? 'none';
      return is === 'rejected' || (is === 'undecided' && state.is === 'decided');
    }),
  );
  return new Set(unpicked);
}

export class GateKeeper {
  readonly #gates: readonly Gate[];
  readonly #lock: Lock;
  readonly #redo: ReadonlySet<string>;
  readonly #given: SeenAtGates | undefined;
  readonly #byName: ReadonlyMap<string, Gate>;
  readonly #byMember: ReadonlyMap<string, Gate>;
  readonly #seen = new Map<string, Seen>();
  readonly #states = new Map<Gate, GateState>();
  readonly #choices = new Map<Gate, string>();
  /** By address of a step: name of the gate at which an input of the step was rejected. */
  readonly #rejected = new Map<string, string>();

  /** `seen`: states of the steps at gates. Defaults to the verdicts in the record of each step's own address. */
  constructor(gates: readonly Gate[], lock: Lock, { redo, seen }: { redo: ReadonlySet<string>; seen?: SeenAtGates }) {
    this.#gates = gates;
    this.#lock = lock;
    this.#redo = redo;
    this.#given = seen;
    this.#byName = new Map(gates.map((gate) => [gate.name, gate]));
    this.#byMember = gatesByMember(gates);
  }

  see(step: DecidedStep): void {
    const { address } = step;
    if (this.#byMember.has(address)) this.#seen.set(address, this.#given?.get(address) ?? this.#lookAt(step));
  }

  hasSeen(seen: SeenAtGates): boolean {
    return [...this.#seen].every(([address, is]) => seen.get(address) === is);
  }

  #lookAt(step: DecidedStep): Seen {
    if (isRedone(step, this.#redo)) return 'none';
    const record = this.#lock.steps.get(step.address);
    const bought = record && purchaseOf(record, step.fingerprint);
    return bought?.state === 'done' ? (verdictIn(record?.decisions, bought)?.is ?? 'undecided') : 'none';
  }

  resolve(step: Step): DecidedStep {
    if (this.#gates.length === 0) return step;
    const gates = new Set(step.needs.flatMap((need) => this.#gateOf(need) ?? []));
    const rejected = this.#rejectedBehind(step, gates);
    if (rejected !== undefined) this.#rejected.set(step.address, rejected);
    if (gates.size === 0) return rejected === undefined ? step : { ...step, rejected };
    const request = this.#replacePicks(step.request) as OpenRequest;
    const needs = [...new Set(step.needs.flatMap((need) => this.#pickedOf(need)))].sort();
    const waits = [...gates].filter((gate) => this.stateOf(gate).is !== 'decided').map(({ name }) => name);
    return { ...step, request, needs, ...(waits.length > 0 && { waits }), ...defined({ rejected }) };
  }

  #rejectedBehind({ needs }: Step, gates: ReadonlySet<Gate>): string | undefined {
    const [own] = [...gates].filter((gate) => this.stateOf(gate).is === 'rejected');
    const before = own?.members ?? needs.filter((need) => this.#gateOf(need) === undefined);
    return before.flatMap((address) => this.#rejected.get(address) ?? [])[0] ?? own?.name;
  }

  #gateOf(need: string): Gate | undefined {
    return this.#byName.get(need) ?? this.#byMember.get(need);
  }

  #pickedOf(need: string): readonly string[] {
    const gate = this.#gateOf(need);
    const state = gate && this.stateOf(gate);
    if (state?.is !== 'decided') return [need];
    return need === gate?.name ? state.picked : state.picked.filter((address) => address === need);
  }

  stateOf(gate: Gate): GateState {
    const known = this.#states.get(gate);
    if (known !== undefined) return known;
    const state = stateOfGate(gate, (address) => {
      const is = this.#seen.get(address) ?? 'none';
      return is === 'none' && this.#rejected.has(address) ? 'rejected' : is;
    });
    this.#states.set(gate, state);
    return state;
  }

  decided(): DecidedGate[] {
    return this.#gates.map((gate) => ({ ...gate, state: this.stateOf(gate) }));
  }

  fingerprintOf(name: string, known: ReadonlyMap<string, string>): string | undefined {
    const gate = this.#byName.get(name);
    if (gate === undefined) return undefined;
    // Computed once, because every step behind the gate needs the fingerprint.
    const fingerprint = this.#choices.get(gate) ?? fingerprintChoice(gate.members.map((one) => known.get(one) ?? ''));
    this.#choices.set(gate, fingerprint);
    return fingerprint;
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

export function gatesByMember<Any extends Gate>(gates: readonly Any[]): Map<string, Any> {
  return new Map(gates.flatMap((gate) => gate.members.map((address) => [address, gate] as const)));
}

export function stateOfGate({ choose, members }: Gate, seenOf: (address: string) => Seen): GateState {
  const seen = members.map((address) => ({ address, is: seenOf(address) }));
  const picked = seen.flatMap(({ address, is }) => (is === 'picked' ? [address] : []));
  if (picked.length === choose) return { is: 'decided', picked };
  if (picked.length > choose) return { is: 'contested', picked };
  const toSee = seen.filter(({ is }) => is !== 'rejected').length;
  return { is: toSee < choose ? 'rejected' : 'open', picked, toSee };
}

export function describeWait(gate: DecidedGate): string {
  const { name, is, choose, members, state } = gate;
  if (is === 'canary') return describeCanary(gate);
  switch (state.is) {
    case 'contested':
      return `waits for a pick: ${name} is contested: ${state.picked.join(' and ')} are picked, but only ${choose} may be picked`;
    case 'rejected':
      if (is === 'approve') return `${name} is rejected; --redo ${name} buys a new output`;
      return `${members.length - state.toSee} of ${members.length} outputs of ${name} are rejected; --redo buys new outputs`;
    case 'open': {
      if (is === 'approve') return `waits for approval: ${name}`;
      const more = state.picked.length === 0 ? '' : `, ${state.picked.length} of ${choose} picked`;
      return `waits for a pick: ${name}, ${state.toSee} to review${more}`;
    }
    case 'decided':
      return `waits for a pick: ${name}`;
    default:
      return state satisfies never;
  }
}

function describeCanary({ members, state }: DecidedGate): string {
  const [first = '', ...others] = members;
  if (state.is === 'rejected') {
    const what = others.length === 0 ? first : `one of ${members.length} canaries from ${first} on`;
    return `waits for its canary: ${what} is rejected; change the request, or buy a new canary with --redo`;
  }
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `waits for its canary: ${first}${more} to be picked`;
}
