import type { Acceptance, Decisions, Purchase, StepRecord } from './record.ts';

/** Commutative, associative, idempotent: the higher revision of each part wins, and of equal ones the larger text. */
export function joinDecisions(all: readonly (Decisions | undefined)[]): Decisions | undefined {
  let pin: Decisions['pin'];
  const accepted = new Map<string, Acceptance>();
  const sends = new Set<string>();
  for (const decisions of all) {
    if (decisions === undefined) continue;
    if (decisions.pin !== undefined && (pin === undefined || isNewer(decisions.pin, pin))) pin = decisions.pin;
    for (const id of decisions.sends ?? []) sends.add(id);
    for (const one of decisions.accepted ?? []) {
      const known = accepted.get(one.wanted);
      if (known === undefined || isNewer(one, known)) accepted.set(one.wanted, one);
    }
  }
  const list = [...accepted.values()].sort((a, b) => (a.wanted < b.wanted ? -1 : 1));
  if (pin === undefined && sends.size === 0 && list.length === 0) return undefined;
  return {
    ...(pin !== undefined && { pin }),
    ...(list.length > 0 && { accepted: list }),
    ...(sends.size > 0 && { sends: [...sends].sort() }),
  };
}

interface Revised {
  fingerprint?: string;
  revision: number;
}

function isNewer(a: Revised, b: Revised): boolean {
  return a.revision === b.revision ? (a.fingerprint ?? '') > (b.fingerprint ?? '') : a.revision > b.revision;
}

/** Returns the purchases that count, newest first: those neither forgotten nor written off. */
export function countedPurchases({ purchases }: StepRecord): Purchase[] {
  const counts = ({ forgotten, writtenOff }: Purchase) => forgotten !== true && writtenOff !== true;
  return purchases.every(counts) ? purchases : purchases.filter(counts);
}

/** Returns the fingerprint of the pinned request of a record; `undefined` when it is not pinned. */
export function pinnedFingerprint(record: StepRecord | undefined): string | undefined {
  return record?.decisions?.pin?.fingerprint;
}
