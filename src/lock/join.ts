import { joinDecisions } from './decisions.ts';
import { compareNewestFirst, factOf, joinPurchases, normalPurchase, smaller } from './join-purchases.ts';
import { type Decisions, type Lock, type LockLine, lockVersion, type Purchase, type StepRecord } from './record.ts';
import { closedSends, mayBeCharged, writtenOffSends } from './sends.ts';
import { joinHeaders } from './written-by.ts';

/** The purchases and decisions of one address as one source knew them, with the kind that it gave. */
export interface Part {
  kind: string;
  purchases: readonly Purchase[];
  decisions?: Decisions;
  closes?: readonly string[];
}

/**
 * Joins what two sources know about one step: commutative, associative, idempotent. Each send is joined separately: an
 * open one is dropped only when its own id is closed, whatever is known of others; a job id is never dropped.
 */
export function joinRecords(a: StepRecord, b: StepRecord): StepRecord {
  if (a.address !== b.address) throw new Error(`internal error: ${a.address} joined with ${b.address}`);
  return joinParts(a.address, [a, b]);
}

/** Joins a record into the steps. */
export function joinInto(steps: Map<string, StepRecord>, record: StepRecord): void {
  const known = steps.get(record.address);
  steps.set(record.address, known === undefined ? record : joinRecords(known, record));
}

/** Applies `joinRecords` to each address. Readers of a file refuse two services. */
export function joinLocks(a: Lock, b: Lock): Lock {
  const steps = new Map<string, StepRecord>();
  for (const [address, record] of a.steps) steps.set(address, joinParts(address, [record]));
  for (const [address, record] of b.steps) {
    const known = steps.get(address);
    steps.set(address, joinParts(address, known === undefined ? [record] : [known, record]));
  }
  return agreeOnSends({ version: lockVersion, ...joinHeaders(a, b), steps });
}

/**
 * Makes every address agree about each send. A renamed step takes its history along, so a send may be recorded at two
 * addresses and be answered, or decided about, at only one of them.
 */
export function agreeOnSends(lock: Lock): Lock {
  const closed = closedSends(lock);
  const writtenOff = writtenOffSends(lock);
  if (closed.size === 0 && writtenOff.size === 0) return lock;
  const isOld = (purchase: Purchase) =>
    mayBeCharged(purchase) &&
    purchase.send !== undefined &&
    (closed.has(purchase.send) || (purchase.writtenOff !== true && writtenOff.has(purchase.send)));
  const steps = new Map(lock.steps);
  for (const [address, record] of lock.steps) {
    if (!record.purchases.some(isOld)) continue;
    const purchases = record.purchases.flatMap((purchase) => {
      if (!isOld(purchase)) return [purchase];
      return closed.has(purchase.send ?? '') ? [] : [{ ...purchase, writtenOff: true as const }];
    });
    steps.set(address, joinParts(address, [{ ...record, purchases }]));
  }
  return { ...lock, steps };
}

export function recordOf(line: LockLine): StepRecord {
  return joinParts(line.address, [partOf(line)]);
}

export function partOf(line: LockLine): Part {
  const { address: _address, kind, decisions, earlier, closes, ...newest } = line;
  return {
    kind,
    purchases: [newest, ...(earlier ?? [])],
    ...(decisions !== undefined && { decisions }),
    ...(closes !== undefined && { closes }),
  };
}

/** Makes the line of a record as it is kept: for settled purchases only what may still be needed. */
export function lineOf(record: StepRecord): LockLine {
  const { address, kind, decisions } = record;
  const [newest, ...others] = record.purchases;
  if (newest === undefined) throw new Error(`internal error: the record of ${address} has no purchase`);
  const earlier = others.map(withoutExplanation);
  return {
    address,
    kind,
    ...newest,
    ...(decisions !== undefined && { decisions }),
    ...(earlier.length > 0 && { earlier }),
  };
}

/** Joins any number of parts in one pass, so that a long journal of one step stays cheap. */
export function joinParts(address: string, parts: readonly Part[]): StepRecord {
  const [part, ...otherParts] = parts;
  const [purchase, ...others] = part?.purchases ?? [];
  const isOne = otherParts.length === 0 && others.length === 0 && part?.closes === undefined;
  if (part !== undefined && purchase?.jobId !== undefined && isOne) return normalRecord(address, part, purchase);
  const decisions = joinDecisions(parts.map((part) => part.decisions));
  const closes = [...new Set(parts.flatMap((part) => part.closes ?? []))].sort();
  const closed = new Set([...closes, ...(decisions?.sends ?? [])]);
  const facts = new Map<string, Purchase>();
  for (const { kind, purchases } of parts) {
    for (const one of purchases) {
      const purchase = one.kind === undefined ? { ...one, kind } : one;
      const fact = factOf(purchase);
      const known = facts.get(fact);
      facts.set(fact, known === undefined ? purchase : joinPurchases(known, purchase));
    }
  }
  const bought = new Set([...facts.values()].flatMap((fact) => (fact.jobId === undefined ? [] : [boughtAs(fact)])));
  const isTold = (fact: Purchase) => {
    if (fact.state === 'refused') return !bought.has(boughtAs(fact));
    return !(mayBeCharged(fact) && fact.send !== undefined && closed.has(fact.send)); // I22
  };
  const told = [...facts.values()].filter(isTold).sort(compareNewestFirst);
  // The newest purchase determines the kind: a step whose task was rewritten may have had another one before.
  const kind = told[0]?.kind ?? smallestKind(parts);
  // Made by `map` because it is long-lived: a list grown by `push` reserves room for 16 more.
  const purchases = told.map((purchase) => normalPurchase(purchase, kind));
  return {
    address,
    kind,
    purchases,
    ...(decisions !== undefined && { decisions }),
    ...(closes.length > 0 && { closes }),
  };
}

/** A refusal only determines the next key: once its purchase has a job, no key follows. */
function boughtAs({ generation, fingerprint }: Purchase): string {
  return `${generation} ${fingerprint}`;
}

/** Fast path for nearly every line of a lock: one job, reported once. */
function normalRecord(address: string, { kind: own, decisions: decided }: Part, purchase: Purchase): StepRecord {
  const kind = purchase.kind ?? own;
  const purchases = [normalPurchase(purchase, kind)];
  const decisions = decided === undefined ? undefined : joinDecisions([decided]);
  return decisions === undefined ? { address, kind, purchases } : { address, kind, purchases, decisions };
}

/** Finds the kind of a record without purchases, none of whose sends led to anything. */
function smallestKind(parts: readonly Part[]): string {
  const kind = parts.reduce<string | undefined>((least, part) => smaller(least, part.kind), undefined);
  if (kind === undefined) throw new Error('internal error: a record of no parts');
  return kind;
}

/** Drops the request, except where it is needed to ask for, or price, what may have been charged. */
function withoutExplanation(purchase: Purchase): Purchase {
  if (mayBeCharged(purchase) || (purchase.jobId !== undefined && purchase.credits === undefined)) return purchase;
  const { request: _request, ...rest } = purchase;
  if (rest.state !== 'refused') return rest;
  const { error: _error, ...proof } = rest;
  return proof;
}
