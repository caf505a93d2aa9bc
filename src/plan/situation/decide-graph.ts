import type { Gate, Graph, OpenRequest, Step } from '../../graph/graph.ts';
import {
  findReferences,
  fingerprintChoice,
  fingerprintStep,
  replaceReferences,
} from '../../graph/render/fingerprint.ts';
import type { Json } from '../../ground/json.ts';
import { defined, isMap, mustGet } from '../../ground/values.ts';
import { countedPurchases, pinnedFingerprint, verdictIn } from '../../lock/decisions.ts';
import type { Job, Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { isJob, isOpenSend } from '../../lock/sends.ts';
import { gatesByMember, stateOfGate } from '../gates/gates.ts';
import {
  type Decided,
  type DecidedGate,
  type DecidedStep,
  findPurchases,
  type Match,
  purchaseOf,
  type Seen,
} from './find-purchases.ts';
import { type DecidedCampaign, isRedone, Verdicts } from './verdicts.ts';

/**
 * Applies users' decisions to the graph. A pinned step, or a step whose output was accepted for a new input, gets the
 * request and fingerprint of its purchase. A decision about a step therefore never regenerates its dependents.
 * References to a decided gate become references to its picked steps. Earlier decisions about steps in `redo` are
 * ignored.
 *
 * Gates are decided in rounds: picks determine the requests behind a gate, and these requests determine which purchases
 * belong to renamed steps. The rounds end when nothing changes. Each round settles at least one more gate, in order of
 * dependency. If two steps exchange their purchases in every round, the result of the last round counts.
 */
export function decideGraph(written: Graph, lock: Lock, redo: ReadonlySet<string>): DecidedCampaign {
  const { gates = [] } = written;
  const gateOf = gatesByMember(gates);
  let seen: Seens | undefined;
  for (let rounds = 0; ; rounds++) {
    const keeper = new GateKeeper(gates, lock, { redo, ...defined({ seen }) });
    const steps = decideSteps(written, lock, { redo, keeper });
    const matches = findPurchases(steps, lock);
    const verdicts = new Verdicts(lock, matches, redo);
    const asked = matches.filter(({ step }) => gateOf.has(step.address));
    seen = new Map(asked.map((match) => [match.step.address, verdicts.seen(match)]));
    if (!keeper.hasSeen(seen) && rounds <= gates.length) continue;
    const decided = keeper.decided();
    const marked = markUnpicked(matches, decided, seen);
    const graph = { ...written, steps: marked.map(({ step }) => step), gates: decided, decided: true as const };
    return { graph, matches: marked, verdicts };
  }
}

function markUnpicked(matches: readonly Match[], gates: readonly DecidedGate[], seen: Seens): readonly Match[] {
  const isUnpicked = (address: string, { state }: DecidedGate) => {
    const is = seen.get(address);
    return is === 'rejected' || (is === 'undecided' && state.is === 'decided');
  };
  const unpicked = new Set(gates.flatMap((gate) => gate.members.filter((address) => isUnpicked(address, gate))));
  if (unpicked.size === 0) return matches;
  return matches.map((match): Match => {
    return unpicked.has(match.step.address) ? { ...match, step: { ...match.step, unpicked: true } } : match;
  });
}

function decideSteps(
  graph: Graph,
  lock: Lock,
  { redo, keeper }: { redo: ReadonlySet<string>; keeper: GateKeeper },
): DecidedStep[] {
  const known = new Map<string, string>();
  const changed = new Set<string>();
  // Steps are in order of dependency. A reference to a gate is replaced by the fingerprint of the gate.
  const fingerprintOf = (address: string): string =>
    (known.has(address) ? undefined : keeper.fingerprintOf(address, known)) ?? mustGet(known, address);
  return graph.steps.map((written) => {
    const resolved = keeper.resolve(written);
    const isSame = resolved === written && !isChanged(written, changed);
    const step = isSame ? written : rerender(resolved, fingerprintOf);
    const record = lock.steps.get(step.address);
    const decided = record === undefined ? step : decideStep(step, record, redo.has(step.address));
    known.set(decided.address, decided.fingerprint);
    if (decided.fingerprint !== written.fingerprint) changed.add(decided.address);
    keeper.see(decided);
    return decided;
  });
}

function isChanged({ part, request }: Step, changed: ReadonlySet<string>): boolean {
  if (changed.size === 0) return false;
  const isPartChanged = part !== undefined && changed.has(part.of);
  return isPartChanged || findReferences(request).some((address) => changed.has(address));
}

function rerender<Any extends Step>(step: Any, fingerprintOf: (address: string) => string): Any {
  const { part, file } = step;
  const referred = replaceReferences(step.request, fingerprintOf);
  // In an upload, `request` contains the path of the file, and `paidRequest` the digest of the file.
  const bytes = step.paidRequest.file;
  const paidRequest = file === undefined || bytes === undefined ? referred : { ...referred, file: bytes };
  const taken = step.take === undefined ? {} : { take: step.take };
  return {
    ...step,
    paidRequest,
    fingerprint: fingerprintStep({ kind: step.kind, paidRequest, ...taken }),
    ...(part !== undefined && { part: { ...part, fingerprint: fingerprintOf(part.of) } }),
  };
}

function decideStep(step: Step, record: StepRecord, isRedone: boolean): DecidedStep {
  const pinned = step.rules?.pin === true ? 'manifest' : pinnedFingerprint(record) === undefined ? undefined : 'lock';
  const acceptance = record.decisions?.accepted?.find(({ wanted }) => wanted === step.fingerprint);
  const accepted = isRedone ? undefined : acceptance?.fingerprint;
  if ((pinned === undefined && accepted === undefined) || record.kind !== step.kind) return step;
  const purchases = countedPurchases(record);
  const own = purchases.filter(({ fingerprint }) => fingerprint === step.fingerprint);
  // A running job or an unresolved create request for this exact request is settled before decisions apply.
  if (own.some((purchase) => isOpenSend(purchase) || purchase.state === 'running')) {
    return pinned === undefined ? step : { ...step, decided: { pinned } };
  }
  const byPin =
    pinned === undefined ? undefined : findKept(purchases, pinned === 'lock' ? pinnedFingerprint(record) : undefined);
  if (pinned !== undefined && byPin !== undefined) return hold(step, byPin, { pinned });
  const isBought = own.some(({ state }) => state === 'done');
  const byAcceptance = isBought || accepted === undefined ? undefined : findKept(purchases, accepted);
  return byAcceptance === undefined ? step : hold(step, byAcceptance, { accepted: true });
}

export function findKept(purchases: readonly Purchase[], fingerprint?: string): Job | undefined {
  const jobs = purchases.filter(isJob);
  const meant = fingerprint === undefined ? jobs : jobs.filter((one) => one.fingerprint === fingerprint);
  return meant.find(({ state }) => state === 'done') ?? meant.find(({ state }) => state === 'running');
}

/**
 * Fixes a step to a purchase. Drops `retry`, because a retry would send the manifest's request, not the paid request.
 */
function hold(step: Step, { fingerprint, request }: Job, by: Omit<Decided, 'wanted'>): DecidedStep {
  if (fingerprint === step.fingerprint) return { ...step, decided: by };
  const { retry: _retry, ...rules } = step.rules ?? {};
  const bought: OpenRequest = request ?? {};
  const wanted = { paidRequest: step.paidRequest, fingerprint: step.fingerprint };
  return { ...step, rules, fingerprint, paidRequest: bought, decided: { ...by, wanted } };
}

type Seens = ReadonlyMap<string, Seen>;

class GateKeeper {
  readonly #gates: readonly Gate[];
  readonly #lock: Lock;
  readonly #redo: ReadonlySet<string>;
  readonly #given: Seens | undefined;
  readonly #byName: ReadonlyMap<string, Gate>;
  readonly #byMember: ReadonlyMap<string, Gate>;
  readonly #seen = new Map<string, Seen>();
  readonly #states = new Map<Gate, DecidedGate['state']>();
  readonly #choices = new Map<Gate, string>();
  /** Name of the gate at which an input of a step was rejected, by address of the step. */
  readonly #rejected = new Map<string, string>();

  /** `seen`: states of the steps at gates. Defaults to the review decisions at the steps' own addresses. */
  constructor(gates: readonly Gate[], lock: Lock, { redo, seen }: { redo: ReadonlySet<string>; seen?: Seens }) {
    this.#gates = gates;
    this.#lock = lock;
    this.#redo = redo;
    this.#given = seen;
    this.#byName = new Map(gates.map((gate) => [gate.name, gate]));
    this.#byMember = gatesByMember(gates);
  }

  see(step: DecidedStep): void {
    const { address } = step;
    if (this.#byMember.has(address)) this.#seen.set(address, this.#given?.get(address) ?? this.#inspect(step));
  }

  hasSeen(seen: Seens): boolean {
    return [...this.#seen].every(([address, is]) => seen.get(address) === is);
  }

  #inspect(step: DecidedStep): Seen {
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

  stateOf(gate: Gate): DecidedGate['state'] {
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
    // The fingerprint of a gate is computed once, because every step behind the gate needs it.
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
