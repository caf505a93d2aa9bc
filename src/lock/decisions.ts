import { canonicalJson } from '../ground/json.ts';
import type { Acceptance, Decisions, Purchase, StepRecord, Verdict } from './record.ts';

/** Commutative, associative, idempotent: the higher revision of each part wins, and of equal ones the larger text. */
export function joinDecisions(all: readonly (Decisions | undefined)[]): Decisions | undefined {
  let pin: Decisions['pin'];
  let verdict: Verdict | undefined;
  const accepted = new Map<string, Acceptance>();
  const sends = new Set<string>();
  for (const decisions of all) {
    if (decisions === undefined) continue;
    if (decisions.pin !== undefined && (pin === undefined || isNewer(decisions.pin, pin))) pin = decisions.pin;
    verdict = joinVerdicts(verdict, decisions.verdict);
    for (const id of decisions.sends ?? []) sends.add(id);
    for (const one of decisions.accepted ?? []) {
      const known = accepted.get(one.wanted);
      if (known === undefined || isNewer(one, known)) accepted.set(one.wanted, one);
    }
  }
  const list = [...accepted.values()].sort((a, b) => (a.wanted < b.wanted ? -1 : 1));
  if (pin === undefined && verdict === undefined && sends.size === 0 && list.length === 0) return undefined;
  return {
    ...(pin !== undefined && { pin }),
    ...(list.length > 0 && { accepted: list }),
    ...(verdict !== undefined && { verdict }),
    ...(sends.size > 0 && { sends: [...sends].sort() }),
  };
}

/** Of equal revisions the larger text counts: a rejection, so that nothing is made from what somebody turned down. */
function joinVerdicts(a: Verdict | undefined, b: Verdict | undefined): Verdict | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.revision !== b.revision) return a.revision > b.revision ? a : b;
  return textOf(a) >= textOf(b) ? a : b;
}

function textOf({ is, ...rest }: Verdict): string {
  return `${is ?? ''} ${canonicalJson(rest)}`;
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

/**
 * Returns what was decided about exactly this purchase. A verdict lapses when its job is not the one that counts any
 * more, as after a redo.
 */
export function verdictOn(
  decisions: Decisions | undefined,
  { fingerprint, jobId }: Pick<Purchase, 'fingerprint' | 'jobId'>,
): (Verdict & Required<Pick<Verdict, 'is'>>) | undefined {
  const { verdict } = decisions ?? {};
  if (verdict?.is === undefined || jobId === undefined) return undefined;
  const { is } = verdict;
  return verdict.fingerprint === fingerprint && verdict.job === jobId ? { ...verdict, is } : undefined;
}
