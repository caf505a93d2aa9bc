import type { Lock, Purchase, StepRecord } from './record.ts';

/** A create that left, or was about to, and whose answer is not known: it may have been charged. */
export function mayBeCharged({ state }: Pick<Purchase, 'state'>): boolean {
  return state === 'intent' || state === 'unresolved';
}

/** One that waits for its own answer, or for a person's decision about it. */
export function isOpenSend(purchase: Pick<Purchase, 'state' | 'writtenOff'>): boolean {
  return mayBeCharged(purchase) && purchase.writtenOff !== true;
}

/** An open send, and where it stands. */
export interface OpenSend {
  record: StepRecord;
  /** Always with a `send`. */
  purchase: Purchase;
}

/** The id of an open send. */
export function sendOf({ send, key }: Purchase): string {
  if (send === undefined) throw new Error(`internal error: the open send of key ${key} has no id`);
  return send;
}

/**
 * Each open send of a lock once. A renamed step takes its history along, so one may stand at two addresses until the lock is
 * settled: where it stands at one of `addresses`, that one counts.
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

/** Whether anything in the lock may have been charged that nobody has asked about or decided. */
export function hasOpenSends(lock: Lock): boolean {
  return openSends(lock, new Set()).length > 0;
}

/** What one record knows to be closed is closed at every address. */
export function closedSends(lock: Lock): ReadonlySet<string> {
  const closed = new Set<string>();
  for (const { closes, decisions } of lock.steps.values()) {
    for (const id of closes ?? []) closed.add(id);
    for (const id of decisions?.sends ?? []) closed.add(id);
  }
  return closed;
}

/** What was written off at one address is so at every other, too. */
export function writtenOffSends(lock: Lock): ReadonlySet<string> {
  const writtenOff = new Set<string>();
  for (const { purchases } of lock.steps.values()) {
    for (const purchase of purchases) {
      if (mayBeCharged(purchase) && purchase.writtenOff && purchase.send !== undefined) writtenOff.add(purchase.send);
    }
  }
  return writtenOff;
}
