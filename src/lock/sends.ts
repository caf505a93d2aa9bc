import type { Lock, Purchase, StepRecord } from './record.ts';

/** Recognizes a create that left, or was about to, and whose answer is unknown: it may have been charged. */
export function mayBeCharged({ state }: Pick<Purchase, 'state'>): boolean {
  return state === 'intent' || state === 'unresolved';
}

/** Recognizes a create that still waits for its own answer, or for a person's decision. */
export function isOpenSend(purchase: Pick<Purchase, 'state' | 'writtenOff'>): boolean {
  return mayBeCharged(purchase) && purchase.writtenOff !== true;
}

/** An open send and its record. */
export interface OpenSend {
  record: StepRecord;
  /** Always with a `send`. */
  purchase: Purchase;
}

/** Returns the id of an open send. */
export function sendOf({ send, key }: Purchase): string {
  if (send === undefined) throw new Error(`internal error: the open send of key ${key} has no id`);
  return send;
}

/**
 * Lists each open send of a lock once. A renamed step takes its history along, so a send may be recorded at two
 * addresses until the lock is settled: one of `addresses` takes precedence.
 */
export function openSends(lock: Lock, addresses: ReadonlySet<string>): OpenSend[] {
  const settled = new Set([...closedSends(lock), ...writtenOffSends(lock)]);
  const found = new Map<string, OpenSend>();
  for (const record of lock.steps.values()) {
    for (const purchase of record.purchases) {
      if (!isOpenSend(purchase)) continue;
      const id = sendOf(purchase);
      const known = found.get(id);
      if (settled.has(id) || (known !== undefined && !addresses.has(record.address))) continue;
      found.set(id, { record, purchase });
    }
  }
  return [...found.values()];
}

/** Tells whether the lock holds a possible charge that nobody has asked about or decided. */
export function hasOpenSends(lock: Lock): boolean {
  return openSends(lock, new Set()).length > 0;
}

/** Collects closed sends: what one record knows to be closed is closed at every address. */
export function closedSends(lock: Lock): ReadonlySet<string> {
  const closed = new Set<string>();
  for (const { closes, decisions } of lock.steps.values()) {
    for (const id of closes ?? []) closed.add(id);
    for (const id of decisions?.sends ?? []) closed.add(id);
  }
  return closed;
}

/** Collects sends that were written off: at one address means at every address. */
export function writtenOffSends(lock: Lock): ReadonlySet<string> {
  const writtenOff = new Set<string>();
  for (const { purchases } of lock.steps.values()) {
    for (const purchase of purchases) {
      if (mayBeCharged(purchase) && purchase.writtenOff && purchase.send !== undefined) writtenOff.add(purchase.send);
    }
  }
  return writtenOff;
}
