import type { OpenRequest } from '../../graph/graph.ts';
import { canonicalJson, type Json } from '../../ground/json.ts';
import { groupBy } from '../../ground/values.ts';
import type { Match } from '../situation/find-purchases.ts';

export interface ListedRecord {
  kind: string;
  jobId: string;
  echoes: { [field: string]: Json };
  createdAt?: string;
}

/**
 * Result of comparing a request with a listed job. `exact`: all comparable fields are equal. `near`: a field other than
 * the main field differs, or the main field differs only in case, white space, Unicode form, entities, a cut end or a
 * link to a step's output. Unknown links, and fields that the request or the list omits, are not compared.
 */
type Likeness = 'exact' | 'near' | 'other';

/**
 * Compares a request with a listed job. `fields`: fields that the service lists for this kind, the main field first.
 * `isComparable`: returns whether the listed value of a field that is not in `fields` is reliable. If omitted, every
 * listed field is reliable.
 */
export function compareListed(
  request: OpenRequest,
  echoes: ListedRecord['echoes'],
  fields: readonly string[],
  isComparable = (field: string) => echoes[field] !== undefined,
): Likeness {
  const [notifier, ...others] = fields;
  if (notifier === undefined) return 'other';
  const [wanted, seen] = [request[notifier], echoes[notifier]];
  // The link of another step's output is unknown during the comparison, so a user must decide.
  if (wanted !== undefined && isOpenField(wanted) && typeof seen === 'string' && /^https?:/.test(seen)) return 'near';
  if (typeof wanted !== 'string' || typeof seen !== 'string') return 'other';
  if (!isSameField(wanted, seen)) return isAlike(foldText(wanted), foldText(seen)) ? 'near' : 'other';
  const isDifferent = others.some((field) => {
    const asked = request[field];
    const isCompared = asked !== undefined && !isOpenField(asked) && isComparable(field);
    return isCompared && !isSameField(asked, echoes[field]);
  });
  return isDifferent ? 'near' : 'exact';
}

export interface Adoption<Job extends ListedRecord> {
  adopted: { match: Match; job: Job }[];
  /** Matches that a user must decide: near jobs, and exact jobs that match several different steps. */
  open: { match: Match; jobs: { job: Job; likeness: Exclude<Likeness, 'other'> }[] }[];
}

/**
 * Assigns jobs that are missing from the lock to steps without a job. Steps with equal requests get their jobs in the
 * order in which the jobs were created.
 */
export function matchListed<Job extends ListedRecord>(
  matches: readonly Match[],
  jobs: readonly Job[],
  fieldsOf: (kind: string) => readonly string[],
): Adoption<Job> {
  const groups = [...groupBy(matches, ({ step }) => `${step.kind} ${canonicalJson(step.request)}`).values()];
  const found = groups.map((group) => ({ group, ...findCandidates(group, jobs, fieldsOf) }));
  const wantedBy = new Map<string, number>();
  for (const { exact } of found) for (const { jobId } of exact) wantedBy.set(jobId, (wantedBy.get(jobId) ?? 0) + 1);
  const result: Adoption<Job> = { adopted: [], open: [] };
  for (const { group, exact, near } of found) {
    const isCertain = exact.length <= group.length && exact.every(({ jobId }) => wantedBy.get(jobId) === 1);
    if (exact.length > 0 && isCertain) {
      const oldestFirst = exact.toSorted((a, b) => compareText(a.createdAt ?? '', b.createdAt ?? ''));
      result.adopted.push(...oldestFirst.flatMap((job, index) => (group[index] ? { match: group[index], job } : [])));
      continue;
    }
    const candidates = [
      ...exact.map((job) => ({ job, likeness: 'exact' as const })),
      // A job that matches another step exactly is not offered for this step.
      ...near.filter(({ jobId }) => !wantedBy.has(jobId)).map((job) => ({ job, likeness: 'near' as const })),
    ];
    if (candidates.length > 0) for (const match of group) result.open.push({ match, jobs: candidates });
  }
  return result;
}

function findCandidates<Job extends ListedRecord>(
  group: readonly Match[],
  jobs: readonly Job[],
  fieldsOf: (kind: string) => readonly string[],
): { exact: Job[]; near: Job[] } {
  const candidates: { exact: Job[]; near: Job[] } = { exact: [], near: [] };
  const [first] = group;
  if (first === undefined) return candidates;
  const { kind, request } = first.step;
  for (const job of jobs) {
    if (job.kind !== kind) continue;
    const likeness = compareListed(request, job.echoes, fieldsOf(kind));
    if (likeness !== 'other') candidates[likeness].push(job);
  }
  return candidates;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function isSameField(wanted: Json, seen: Json | undefined): boolean {
  if (seen === undefined) return false;
  if (typeof wanted === 'string' && typeof seen === 'string') return wanted.normalize('NFC') === seen.normalize('NFC');
  return canonicalJson(wanted) === canonicalJson(seen);
}

export function isOpenField(value: Json): boolean {
  return value !== null && typeof value === 'object';
}

function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

const entities: { readonly [entity: string]: string } = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  apos: "'",
};

/**
 * Returns whether a listed text can be the sent text. The service may escape characters as entities and cut the end.
 */
function isAlike(listed: string, sent: string): boolean {
  const [a, b] = [listed, sent].map((text) =>
    text
      .replace(/&(amp|lt|gt|quot|#39|apos);/g, (_whole, name: string) => entities[name] ?? '')
      .replace(/\s*(…|\.{3})$/, ''),
  ) as [string, string];
  return a === b || (a !== '' && b !== '' && (a.startsWith(b) || b.startsWith(a)));
}
