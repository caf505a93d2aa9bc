import type { Gate, Graph, OpenRequest, Step } from '../../graph/graph.ts';
import { defined, groupBy, lookUpIn } from '../../ground/values.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import { joinParts } from '../../lock/join.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
import { currentPurchase } from '../purchases/next.ts';

export interface Match {
  step: DecidedStep;
  /** All purchases at this address and at `movedFrom`, from which `repeat` and `attempt` continue. */
  record?: StepRecord;
  purchase?: Purchase;
  movedFrom?: string;
  sharesJobOf?: string;
}

/**
 * Finds the purchase of each step at its own address. If this purchase is missing, refused or failed, uses a purchase
 * with the same fingerprint from another address that does not use it. A rename therefore costs nothing. Steps with
 * equal fingerprints share one job. The owner of the job is the first step with a purchase, or else the first step.
 * Forgotten purchases are ignored.
 */
export function findPurchases(steps: readonly DecidedStep[], lock: Lock): Match[] {
  const matches = steps.map((step): Match => {
    const record = lock.steps.get(step.address);
    const purchase = record && purchaseOf(record, step.fingerprint);
    return { step, ...defined({ record, purchase }) };
  });
  claimUnclaimed(matches, lock);
  shareJobs(matches);
  return matches;
}

function claimUnclaimed(matches: Match[], lock: Lock): void {
  const claimed = new Map<string, string>();
  for (const { step, purchase } of matches) if (purchase !== undefined) claimed.set(step.address, purchase.fingerprint);
  const unclaimed = [...lock.steps.values()].flatMap((record) => {
    const fingerprints = new Set(countedPurchases(record).map(({ fingerprint }) => fingerprint));
    fingerprints.delete(claimed.get(record.address) ?? '');
    return [...fingerprints].map((fingerprint) => ({ record, fingerprint }));
  });
  if (unclaimed.length === 0) return;
  unclaimed.sort((a, b) => (a.record.address < b.record.address ? -1 : 1));
  const free = groupBy(unclaimed, ({ fingerprint }) => fingerprint);
  for (const match of matches) {
    const { fingerprint } = match.step;
    const candidates = free.get(fingerprint) ?? [];
    let taken: StepRecord | undefined;
    for (const { record } of candidates) {
      const purchase = purchaseOf(record, fingerprint);
      if (purchase === undefined || !isBetter(purchase, match.purchase)) continue;
      match.purchase = purchase;
      taken = record;
    }
    if (taken === undefined) continue;
    free.set(
      fingerprint,
      candidates.filter(({ record }) => record !== taken),
    );
    match.movedFrom = taken.address;
    match.record = mergeMoved(match, taken);
  }
}

function isBetter({ state }: Purchase, own: Purchase | undefined): boolean {
  switch (own?.state) {
    case undefined:
      return true;
    case 'refused':
      return state !== 'refused';
    case 'failed':
    case 'lost':
      return state === 'done' || state === 'running';
    default:
      return false;
  }
}

/**
 * Merges the old record of a renamed step into its new record, as the run will write it. Without the old record,
 * attempts of `retry:` would be counted from 0, and the next purchase would get the number of a paid one.
 */
function mergeMoved({ step, record }: Match, { kind, purchases }: StepRecord): StepRecord {
  return joinParts(step.address, [{ kind, purchases }, ...(record === undefined ? [] : [record])]);
}

/**
 * Ranks the steps that could own a shared job. 2: the step has a purchase. 1: the service refused the step's create
 * request. -1: the step cannot buy, because another post was sent from its address or its input was rejected.
 */
function progress({ purchase, step, record }: Match): -1 | 0 | 1 | 2 {
  const isPosted = isPost(step.kind) && record !== undefined && sendsOf(record).length > 0;
  if (purchase === undefined) return isPosted || step.rejected !== undefined ? -1 : 0;
  return purchase.state === 'refused' ? 1 : 2;
}

function shareJobs(matches: Match[]): void {
  const owners = new Map<string, Match>();
  for (const match of matches) {
    const owner = owners.get(match.step.fingerprint);
    if (owner === undefined || progress(match) > progress(owner)) owners.set(match.step.fingerprint, match);
  }
  for (const match of matches) {
    const owner = owners.get(match.step.fingerprint);
    if (owner === undefined || owner === match || progress(match) === 2) continue;
    match.sharesJobOf = owner.step.address;
    delete match.purchase;
  }
}

export function purchaseOf(record: StepRecord, fingerprint: string): Purchase | undefined {
  return currentPurchase(countedPurchases(record).filter((purchase) => purchase.fingerprint === fingerprint));
}

export type BoughtAt = (fingerprint: string) => string | undefined;

export function boughtAtIn({ steps }: Lock): BoughtAt {
  const boughtAs = ({ address, purchases }: StepRecord) =>
    purchases.map(({ fingerprint }) => [fingerprint, address] as const);
  return lookUpIn(() => new Map([...steps.values()].flatMap(boughtAs)));
}

/** A graph after the decisions of a lock were applied. Only `situate` creates it. */
export interface DecidedGraph extends Graph {
  steps: DecidedStep[];
  gates: readonly DecidedGate[];
  /** Marks the graph, because decisions must be applied only once. */
  decided: true;
}

export interface DecidedStep extends Step {
  /** Names of gates that must be decided before a purchase for this step. Never empty. */
  waits?: string[];
  /** Name of the gate that rejected a direct or indirect input of this step. A run then buys nothing for the step. */
  rejected?: string;
  /** Set if another output was picked or this output was rejected. The file of an unpicked output may be deleted. */
  unpicked?: true;
  decided?: Decided;
}

/** State of a step at a gate. `none`: the step has no output to review. */
export type Seen = 'picked' | 'rejected' | 'undecided' | 'none';

/** Decision that fixes a step to a purchase, so that the step has the request and fingerprint of that purchase. */
export interface Decided {
  pinned?: 'manifest' | 'lock';
  accepted?: true;
  wanted?: { paidRequest: OpenRequest; fingerprint: string };
}

export interface DecidedGate extends Gate {
  state: GateState;
}

/**
 * State of a gate. `open`: fewer outputs are picked than `choose`. `contested`: more outputs are picked than `choose`,
 * for example after a merge. `rejected`: too many outputs are rejected for `choose` picks. `toSee`: number of outputs
 * that are not rejected.
 */
type GateState =
  | { is: 'decided' | 'contested'; picked: readonly string[] }
  | { is: 'open' | 'rejected'; picked: readonly string[]; toSee: number };
