import type { Graph } from '../../graph/graph.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import type { Lock, Output, Purchase } from '../../lock/record.ts';
import { isOpenSend } from '../../lock/sends.ts';
import { type Limits, withCanaryGates } from '../gates/canaries.ts';
import { gatesByMember } from '../gates/gates.ts';
import { findUnfitSteps, type MediaFacts, type Unfit } from '../outputs/expectation.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
import { decideGraph } from './decide-graph.ts';
import type { DecidedGate, DecidedGraph, Match } from './find-purchases.ts';
import { findUnneeded } from './parts.ts';
import type { Verdicts } from './verdicts.ts';

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
 * State of the purchase of a step's current request. `changed`: only an earlier request was bought. `not-bought`
 * includes refusals. `unneeded`: a part that the step uses does not exist, or an input of the step was rejected.
 * `failed` includes outputs that do not fit `expect`, if the files were examined.
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
