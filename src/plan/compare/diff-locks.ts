import { taskOfAddress } from '../../graph/address.ts';
import { countedPurchases, laterVerdict, nameOfVerdict, pinnedFingerprint } from '../../lock/decisions.ts';
import type { Lock, Purchase, StepRecord, Verdict } from '../../lock/record.ts';
import { isJob, openSends } from '../../lock/sends.ts';
import { chargeName, chargesByJob, spentCredits } from '../../lock/spent.ts';

/**
 * Change of something between two locks. Jobs: `bought`, `gone` (no longer on record), `changed` (its state, or what it
 * was charged), `moved` (to another address), `forgotten`, `remembered`. Creates: `asked` (an answer is open),
 * `settled`. Decisions: `pinned`, `unpinned`, `accepted`, `unaccepted`, `picked`, `rejected`, `undecided` (a verdict
 * was taken back), `resolved`.
 */
export type LockChange =
  | 'bought'
  | 'gone'
  | 'changed'
  | 'moved'
  | 'forgotten'
  | 'remembered'
  | 'asked'
  | 'settled'
  | 'pinned'
  | 'unpinned'
  | 'accepted'
  | 'unaccepted'
  | 'picked'
  | 'rejected'
  | 'undecided'
  | 'resolved';

export interface LockDifference {
  change: LockChange;
  address: string;
  task: string;
  kind: string;
  /** ID of the job, or of the open create. */
  id?: string;
  /** `moved`: the address before. */
  movedFrom?: string;
  state?: Purchase['state'];
  /** `changed`: the state before. */
  stateBefore?: Purchase['state'];
  /** Increase of the recorded credits. Omitted when unknown or none. */
  credits?: number;
}

/** Everything that differs between two locks. Empty where they say the same of purchases and decisions. */
export interface LockDiff {
  rows: LockDifference[];
  /** Credits on record. */
  before: number;
  after: number;
  /** Credits of outputs that an address had before, and has no more: bought again, or forgotten. */
  discarded: number;
}

/** Compares two locks. Pure; needs no manifest. */
export function diffLocks(before: Lock, after: Lock): LockDiff {
  const jobs = { old: jobsOf(before), now: jobsOf(after) };
  const rows = [
    ...diffJobs(jobs),
    ...diffSends(before, after),
    ...diffDecisions(before, after),
    ...diffVerdicts(before, after),
  ];
  return {
    rows,
    before: spentCredits(before),
    after: spentCredits(after),
    discarded: discardedBetween(before, after, jobs.now),
  };
}

interface Job {
  purchase: Purchase;
  record: StepRecord;
  addresses: Set<string>;
  credits: number | undefined;
}

type Jobs = ReadonlyMap<string, Job>;

/** Each job once, by name: as the first of its addresses tells it. */
function jobsOf(lock: Lock): Jobs {
  const credits = chargesByJob(lock);
  const jobs = new Map<string, Job>();
  for (const address of [...lock.steps.keys()].sort()) {
    const record = lock.steps.get(address);
    for (const purchase of record?.purchases ?? []) {
      if (record === undefined || purchase.jobId === undefined) continue;
      const name = chargeName(purchase);
      const known = jobs.get(name);
      if (known !== undefined) known.addresses.add(address);
      else jobs.set(name, { purchase, record, addresses: new Set([address]), credits: credits.get(name) });
    }
  }
  return jobs;
}

function* diffJobs({ old, now }: { old: Jobs; now: Jobs }): Generator<LockDifference> {
  for (const [name, job] of now) {
    const known = old.get(name);
    const { state, forgotten } = job.purchase;
    const row = rowOf(job);
    if (known === undefined) {
      yield { change: 'bought', ...row, state, ...(job.credits !== undefined && { credits: job.credits }) };
      continue;
    }
    const credits = (job.credits ?? 0) - (known.credits ?? 0);
    if (known.purchase.state !== state || credits !== 0) {
      yield { change: 'changed', ...row, state, stateBefore: known.purchase.state, ...(credits !== 0 && { credits }) };
    }
    const [movedFrom] = known.addresses;
    const isElsewhere = ![...job.addresses].some((address) => known.addresses.has(address));
    if (isElsewhere && movedFrom !== undefined) yield { change: 'moved', ...row, movedFrom };
    if ((known.purchase.forgotten ?? false) !== (forgotten ?? false)) {
      yield { change: forgotten ? 'forgotten' : 'remembered', ...row };
    }
  }
  for (const [name, job] of old) {
    if (now.has(name)) continue;
    const { state } = job.purchase;
    yield { change: 'gone', ...rowOf(job), state, ...(job.credits !== undefined && { credits: -job.credits }) };
  }
}

function rowOf({ record, purchase }: Pick<Job, 'record' | 'purchase'>): Omit<LockDifference, 'change'> {
  const { address } = record;
  const { jobId, kind = record.kind } = purchase;
  return { address, task: taskOfAddress(address), kind, ...(jobId !== undefined && { id: jobId }) };
}

function* diffSends(before: Lock, after: Lock): Generator<LockDifference> {
  const sendsOf = (lock: Lock) => new Map(openSends(lock, new Set()).map((open) => [open.purchase.send, open]));
  const [old, now] = [sendsOf(before), sendsOf(after)];
  for (const [id, open] of now) if (!old.has(id)) yield { change: 'asked', ...rowOf(open), id };
  for (const [id, open] of old) if (!now.has(id)) yield { change: 'settled', ...rowOf(open), id };
}

function* diffDecisions(before: Lock, after: Lock): Generator<LockDifference> {
  for (const address of [...new Set([...before.steps.keys(), ...after.steps.keys()])].sort()) {
    const [old, now] = [before.steps.get(address), after.steps.get(address)];
    const row = { address, task: taskOfAddress(address), kind: (now ?? old)?.kind ?? '' };
    const [pinBefore, pin] = [pinnedFingerprint(old), pinnedFingerprint(now)];
    if (pinBefore !== pin) yield { change: pin === undefined ? 'unpinned' : 'pinned', ...row };
    const [acceptedBefore, accepted] = [acceptedIn(old), acceptedIn(now)];
    if (accepted.some((one) => !acceptedBefore.includes(one))) yield { change: 'accepted', ...row };
    if (acceptedBefore.some((one) => !accepted.includes(one))) yield { change: 'unaccepted', ...row };
    const known = new Set(old?.decisions?.sends);
    for (const id of now?.decisions?.sends ?? []) if (!known.has(id)) yield { change: 'resolved', ...row, id };
  }
}

/** Verdicts stand at addresses, and are about purchases: what was only moved is decided as before. */
function* diffVerdicts(before: Lock, after: Lock): Generator<LockDifference> {
  const [old, now] = [verdictsOf(before), verdictsOf(after)];
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [was, is] = [old.get(name)?.verdict.is, now.get(name)?.verdict.is];
    const { address, kind } = now.get(name) ?? old.get(name) ?? {};
    if (was === is || address === undefined || kind === undefined) continue;
    yield { change: is ?? 'undecided', address, task: taskOfAddress(address), kind };
  }
}

/** The newest verdict about each purchase, with where it stands. */
function verdictsOf(lock: Lock): Map<string, { address: string; kind: string; verdict: Verdict }> {
  const found = new Map<string, { address: string; kind: string; verdict: Verdict }>();
  for (const { address, kind, decisions } of lock.steps.values()) {
    for (const verdict of decisions?.verdicts ?? []) {
      const name = nameOfVerdict(verdict);
      const known = found.get(name)?.verdict;
      if (known === undefined || laterVerdict(known, verdict) === verdict) found.set(name, { address, kind, verdict });
    }
  }
  return found;
}

function acceptedIn(record: StepRecord | undefined): string[] {
  return (record?.decisions?.accepted ?? []).map(({ wanted, fingerprint }) => `${wanted} ${fingerprint}`);
}

/** Finds the job whose output each address has, and what it was charged. */
function deliveriesOf(lock: Lock): Map<string, number> {
  const credits = chargesByJob(lock);
  const deliveries = new Map<string, number>();
  for (const record of lock.steps.values()) {
    const face = countedPurchases(record)
      .filter(isJob)
      .find(({ state }) => state === 'done');
    if (face !== undefined) deliveries.set(chargeName(face), credits.get(chargeName(face)) ?? 0);
  }
  return deliveries;
}

/** Sums up the credits given up. What is no longer on record is not given up: the other lock may be older. */
function discardedBetween(before: Lock, after: Lock, known: Jobs): number {
  const [old, now] = [deliveriesOf(before), deliveriesOf(after)];
  let sum = 0;
  for (const [name, credits] of old) if (!now.has(name) && known.has(name)) sum += credits;
  return sum;
}
