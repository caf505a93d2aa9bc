import type { Graph, OpenRequest, Step } from '../../graph/graph.ts';
import { findReferences, fingerprintStep, replaceReferences } from '../../graph/render/fingerprint.ts';
import { defined, mustGet } from '../../ground/values.ts';
import { countedPurchases, pinnedFingerprint } from '../../lock/decisions.ts';
import type { Job, Lock, Output, Purchase, StepRecord } from '../../lock/record.ts';
import { isJob, isOpenSend } from '../../lock/sends.ts';
import { type Limits, withCanaryGates } from '../gates/canaries.ts';
import { GateKeeper, gatesByMember, type SeenAtGates, seeAtGates, unpickedAt } from '../gates/gates.ts';
import { findUnfitSteps, type MediaFacts, type Unfit } from '../outputs/expectation.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
import {
  type Decided,
  type DecidedGate,
  type DecidedGraph,
  type DecidedStep,
  findPurchases,
  type Match,
} from './find-purchases.ts';
import { findUnneeded } from './parts.ts';
import { type DecidedCampaign, Verdicts } from './verdicts.ts';

export interface Situation extends Limits {
  lock: Lock;
  written: Graph;
  graph: DecidedGraph;
  matches: readonly Match[];
  byAddress: ReadonlyMap<string, Match>;
  gateOf: ReadonlyMap<string, DecidedGate>;
  verdicts: Verdicts;
  unfit?: ReadonlyMap<string, Unfit>;
  unneeded: ReadonlySet<string>;
}

const nothing: ReadonlySet<string> = new Set();

export function situate(
  written: Graph & { decided?: never },
  lock: Lock,
  { redo = nothing, selected, underWay }: Partial<Limits> = {},
): Situation {
  const limits = { redo, selected, underWay };
  const decision = decideGraph(written, lock, redo);
  const { graph, matches } = withCanaryGates(decision, limits);
  return {
    ...limits,
    ...{ lock, written, graph, matches },
    byAddress: new Map(matches.map((match) => [match.step.address, match])),
    gateOf: gatesByMember(graph.gates),
    verdicts: decision.verdicts,
    unneeded: findUnneeded(graph, matches),
  };
}

export interface SeenFiles {
  fileState(output: Output): FileState;
  isKept?(output: Output): boolean;
  isReplaced?(output: Output): boolean;
  mediaFacts?(output: Output): MediaFacts | undefined;
}

export type FileState = 'intact' | 'missing' | 'changed';

export interface SeenSituation extends Situation {
  files: SeenFiles;
  unfit: NonNullable<Situation['unfit']>;
}

export function withFiles(situation: Situation, files: SeenFiles): SeenSituation {
  const isIntact = (output: Output) => files.fileState(output) === 'intact';
  return { ...situation, files, unfit: findUnfitSteps(situation.matches, { isIntact, factsOf: files.mediaFacts }) };
}

export function limit(situation: SeenSituation, limits: Limits): SeenSituation {
  const { written, lock, files } = situation;
  const reseats = limits.selected !== undefined && written.canaries !== undefined;
  const isSame = limits.redo.size === 0 && !reseats;
  return isSame ? { ...situation, ...limits } : withFiles(situate(written, lock, limits), files);
}

/**
 * Applies users' decisions to the graph. A pinned step, or a step whose output was accepted for a new input, gets the
 * request and fingerprint of its purchase. A decision about a step therefore never regenerates its dependents. Picks
 * replace the references to their gate. Earlier decisions about the steps in `redo` do not count.
 *
 * Gates are decided in rounds: picks determine the requests behind a gate, and these requests determine which purchases
 * belong to renamed steps. The rounds end when nothing changes. Each round settles at least one more gate, in order of
 * dependency. If two exchanged purchases never agree, the last state counts.
 */
function decideGraph(written: Graph, lock: Lock, redo: ReadonlySet<string>): DecidedCampaign {
  const { gates = [] } = written;
  let seen: SeenAtGates | undefined;
  for (let rounds = 0; ; rounds++) {
    const keeper = new GateKeeper(gates, lock, { redo, ...defined({ seen }) });
    const steps = decideSteps(written, lock, { redo, keeper });
    const matches = findPurchases(steps, lock);
    const verdicts = new Verdicts(lock, matches, redo);
    seen = seeAtGates(matches, verdicts, gates);
    if (!keeper.hasSeen(seen) && rounds <= gates.length) continue;
    const decided = keeper.decided();
    const marked = markUnpicked(matches, unpickedAt(decided, seen));
    const graph = { ...written, steps: marked.map(({ step }) => step), gates: decided, decided: true as const };
    return { graph, matches: marked, verdicts };
  }
}

function markUnpicked(matches: readonly Match[], unwanted: ReadonlySet<string>): readonly Match[] {
  if (unwanted.size === 0) return matches;
  return matches.map((match): Match => {
    return unwanted.has(match.step.address) ? { ...match, step: { ...match.step, unpicked: true } } : match;
  });
}

function decideSteps(
  graph: Graph,
  lock: Lock,
  { redo, keeper }: { redo: ReadonlySet<string>; keeper: GateKeeper },
): DecidedStep[] {
  const known = new Map<string, string>();
  const changed = new Set<string>();
  // Steps are in order of dependency. A reference to a gate has the fingerprint of the gate instead of that of a step.
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
  // The two forms of the request differ only in the file: `request` has its path, `paidRequest` its content.
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

/** Fixes a step to a purchase. Drops `retry`, because a retry would send the manifest's request for that purchase. */
function hold(step: Step, { fingerprint, request }: Job, by: Omit<Decided, 'wanted'>): DecidedStep {
  if (fingerprint === step.fingerprint) return { ...step, decided: by };
  const { retry: _retry, ...rules } = step.rules ?? {};
  const bought: OpenRequest = request ?? {};
  const wanted = { paidRequest: step.paidRequest, fingerprint: step.fingerprint };
  return { ...step, rules, fingerprint, paidRequest: bought, decided: { ...by, wanted } };
}

/**
 * State of the purchase of a step's current request. `changed`: only an earlier request was bought. `not-bought`
 * includes refusals. `unneeded`: a part that the step uses does not exist, or an input was rejected. `failed` includes
 * outputs that do not fit `expect`, if the files were examined.
 */
export type StepState = 'done' | 'running' | 'failed' | 'lost' | 'unresolved' | 'changed' | 'not-bought' | 'unneeded';

export const stepStates: readonly StepState[] = [
  'done',
  'running',
  'failed',
  'lost',
  'unresolved',
  'changed',
  'not-bought',
  'unneeded',
];

export function stateOfStep(
  match: Match | undefined,
  { byAddress, unneeded, unfit }: Pick<Situation, 'byAddress' | 'unneeded' | 'unfit'>,
): StepState {
  if (match === undefined) return 'not-bought';
  if (unneeded.has(match.step.address)) return 'unneeded';
  if (unfit?.has(match.step.address)) return 'failed';
  const post = stateOfPost(match);
  if (post !== undefined) return post;
  const owner = match.sharesJobOf === undefined ? undefined : byAddress.get(match.sharesJobOf);
  const purchase = match.purchase ?? owner?.purchase;
  if (purchase !== undefined) return stateOfPurchase(purchase);
  const counted = match.record === undefined ? [] : countedPurchases(match.record);
  return counted.some(({ jobId }) => jobId !== undefined) ? 'changed' : 'not-bought';
}

function stateOfPurchase({ state }: Purchase): StepState {
  switch (state) {
    case 'intent':
      return 'unresolved';
    case 'refused':
      return 'not-bought';
    default:
      return state;
  }
}

function stateOfPost({ step, record, purchase }: Match): 'done' | 'changed' | 'unresolved' | undefined {
  if (record === undefined || !isPost(step.kind)) return undefined;
  const sends = sendsOf(record);
  if (sends.some(isOpenSend)) return 'unresolved';
  const [posted] = sends;
  if (posted === undefined || purchase?.jobId !== undefined) return undefined;
  return posted.fingerprint === step.fingerprint ? 'done' : 'changed';
}
