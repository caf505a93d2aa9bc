import { canonicalJson } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import {
  type Acceptance,
  type Decisions,
  type Job,
  joinUnknown,
  type MayHaveUnknown,
  type Purchase,
  type StepRecord,
  type Verdict,
  withUnknownOf,
} from './record.ts';

/** Maximum length of a note, in UTF-16 code units. */
export const mostNote = 500;
/** Maximum length of a verdict's reason and of its author's name, in UTF-16 code units. */
export const mostReason = 100;

/** Highest revision number and generation number that a lock may contain. */
export const mostRevision = 1_000_000_000;

/**
 * Joins decisions of two locks: commutative, associative, idempotent. The decision with the higher revision wins or, if
 * the revisions are equal, the decision whose JSON text sorts later.
 */
export function joinDecisions(all: readonly (Decisions | undefined)[]): Decisions | undefined {
  let pin: Decisions['pin'];
  const verdicts = new Map<string, Verdict>();
  const accepted = new Map<string, Acceptance>();
  const sends = new Set<string>();
  let unknown: MayHaveUnknown = {};
  for (const decisions of all) {
    if (decisions === undefined) continue;
    unknown = joinUnknown(unknown, decisions);
    if (decisions.pin !== undefined) pin = pin === undefined ? decisions.pin : newer(pin, decisions.pin);
    for (const one of decisions.verdicts ?? []) {
      const known = verdicts.get(nameOfVerdict(one));
      verdicts.set(nameOfVerdict(one), known === undefined ? one : laterVerdict(known, one));
    }
    for (const id of decisions.sends ?? []) sends.add(id);
    for (const one of decisions.accepted ?? []) {
      const known = accepted.get(one.wanted);
      accepted.set(one.wanted, known === undefined ? one : newer(known, one));
    }
  }
  const list = [...accepted.values()].sort((a, b) => (a.wanted < b.wanted ? -1 : 1));
  const isEmpty = pin === undefined && verdicts.size === 0 && sends.size === 0 && list.length === 0;
  if (isEmpty && unknown.unknownFields === undefined) return undefined;
  return {
    ...defined({ pin }),
    ...(list.length > 0 && { accepted: list }),
    ...(verdicts.size > 0 && { verdicts: [...verdicts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one) }),
    ...(sends.size > 0 && { sends: [...sends].sort() }),
    ...unknown,
  };
}

export function nameOfVerdict({ fingerprint, job }: Pick<Verdict, 'fingerprint' | 'job'>): string {
  return `${fingerprint} ${job}`;
}

/**
 * Returns which of two verdicts about one purchase wins: that with the higher revision or, if they are equal, that
 * whose JSON text sorts later. At equal revisions, a rejection therefore wins over a pick, and a verdict with a note
 * over one without.
 */
export function laterVerdict(a: Verdict, b: Verdict): Verdict {
  if (a.revision !== b.revision) return a.revision > b.revision ? a : b;
  const [one, other] = [textOf(a), textOf(b)];
  return one === other ? withUnknownOf(a, b) : one > other ? a : b;
}

function textOf({ unknownFields: _unknown, ...verdict }: Verdict): string {
  const { is = '', note = '' } = verdict;
  return `${is} ${note} ${canonicalJson(verdict)}`;
}

interface Revised extends MayHaveUnknown {
  fingerprint?: string;
  revision: number;
}

function newer<T extends Revised>(a: T, b: T): T {
  if (a.revision !== b.revision) return a.revision > b.revision ? a : b;
  const [one, other] = [a.fingerprint ?? '', b.fingerprint ?? ''];
  return one === other ? withUnknownOf(a, b) : one > other ? a : b;
}

export function countedPurchases({ purchases }: StepRecord): Purchase[] {
  const counts = ({ forgotten, writtenOff }: Purchase) => forgotten !== true && writtenOff !== true;
  return purchases.every(counts) ? purchases : purchases.filter(counts);
}

export function pinnedFingerprint(record: StepRecord | undefined): string | undefined {
  return record?.decisions?.pin?.fingerprint;
}

/** Returns the verdict about a purchase. A verdict without `is` is one that the reviewer withdrew. */
export function verdictIn(
  decisions: Decisions | undefined,
  { fingerprint, jobId }: Pick<Job, 'fingerprint' | 'jobId'>,
): Verdict | undefined {
  return decisions?.verdicts?.find((one) => one.fingerprint === fingerprint && one.job === jobId);
}
