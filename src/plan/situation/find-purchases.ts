import type { Gate, Graph, OpenRequest, Step } from '../../graph/graph.ts';
import { defined } from '../../ground/values.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import { joinParts } from '../../lock/join.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
import { currentPurchase } from '../purchases/next.ts';

export interface Match {
  step: DecidedStep;
  /** Everything bought under this address and `movedFrom`: the numbers of repeats and attempts continue from it. */
  record?: StepRecord;
  purchase?: Purchase;
  movedFrom?: string;
  /** Another step of the manifest with the same fingerprint, whose job this step shares. */
  sharesJobOf?: string;
}

/**
 * Finds each step's purchase: first by address, then (also if the purchase at the address was refused or gave nothing)
 * by a purchase with the same fingerprint that no step of the manifest has at its own address. Renamed tasks, changed
 * row keys and swapped names therefore cost nothing. Steps with equal fingerprints share one job, which belongs to the
 * first of them that is bought, or else to the first. Decisions are already applied to `steps`; forgotten purchases are
 * ignored.
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
  const isFree = (address: string, fingerprint: string) => claimed.get(address) !== fingerprint;
  const holders = [...lock.steps.values()].filter((record) =>
    countedPurchases(record).some(({ fingerprint }) => isFree(record.address, fingerprint)),
  );
  if (holders.length === 0) return;
  const free = new Map<string, StepRecord[]>();
  for (const record of holders.sort((a, b) => (a.address < b.address ? -1 : 1))) {
    for (const { fingerprint } of countedPurchases(record)) {
      if (!isFree(record.address, fingerprint)) continue;
      const records = free.get(fingerprint);
      if (records === undefined) free.set(fingerprint, [record]);
      else if (records.at(-1) !== record) records.push(record);
    }
  }
  for (const match of matches) {
    const { fingerprint } = match.step;
    const records = free.get(fingerprint) ?? [];
    let taken: StepRecord | undefined;
    for (const record of records) {
      const purchase = purchaseOf(record, fingerprint);
      if (purchase === undefined || !isBetter(purchase, match.purchase)) continue;
      match.purchase = purchase;
      taken = record;
    }
    if (taken === undefined) continue;
    records.splice(records.indexOf(taken), 1);
    match.movedFrom = taken.address;
    match.record = takeAlong(match, taken);
  }
}

/** Prefers a purchase at another address to a failed one. A refused one was free, but counts as an attempt. */
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
 * Joins the old record of a renamed step into its new record, as the journal will write it. Otherwise a rename would
 * count the attempts of `retry:` from 0, and give the next purchase the number of a paid one.
 */
function takeAlong({ step, record }: Match, { kind, purchases }: StepRecord): StepRecord {
  return joinParts(step.address, [{ kind, purchases }, ...(record === undefined ? [] : [record])]);
}

/**
 * Ranks a match. 2: the step's own create request gave something, or may yet. 1: it was refused, and counts as an
 * attempt. -1: nothing can come of it, because another post was sent from this address before, or what it is made from
 * was rejected.
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

export function boughtAtIn(lock: Lock): BoughtAt {
  let addresses: Map<string, string> | undefined;
  return (fingerprint) => {
    addresses ??= new Map(
      [...lock.steps.values()].flatMap(({ address, purchases }) =>
        purchases.map((purchase) => [purchase.fingerprint, address] as const),
      ),
    );
    return addresses.get(fingerprint);
  };
}

/** A graph to which users' decisions from a lock are applied. Only `situate` makes one. */
export interface DecidedGraph extends Graph {
  steps: DecidedStep[];
  gates: readonly DecidedGate[];
  /** Marks the graph, because decisions must not be applied twice. */
  decided: true;
}

export interface DecidedStep extends Step {
  /** Names of gates that must be decided before anything is bought for this step. At least one. */
  waits?: string[];
  /** Name of the gate at which what it is made from, directly or not, was rejected: nothing more is bought for it. */
  rejected?: string;
  /** Other outputs were picked, or this one was rejected, so its file may be deleted. */
  unpicked?: true;
  decided?: Decided;
}

/** State of a step at a gate. `none`: the step has no output to review. */
export type Seen = 'picked' | 'rejected' | 'undecided' | 'none';

/** The decision that fixes a step to a purchase. The step then has its `paidRequest` and `fingerprint`. */
export interface Decided {
  pinned?: 'manifest' | 'lock';
  accepted?: true;
  /** The request that the manifest asks for now, if it differs from the purchase. */
  wanted?: { paidRequest: OpenRequest; fingerprint: string };
}

export interface DecidedGate extends Gate {
  state: GateState;
}

/**
 * State of a gate after the decisions so far. `open`: fewer outputs are picked than requested, and `toSee` steps are
 * not rejected. `contested`: more are picked than requested, as after a merge. `rejected`: fewer are left than are to
 * be picked.
 */
export type GateState =
  | { is: 'decided' | 'contested'; picked: readonly string[] }
  | { is: 'open' | 'rejected'; picked: readonly string[]; toSee: number };
