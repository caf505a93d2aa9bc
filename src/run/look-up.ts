import type { ListWalk, LookUpVerdict } from '../contract/answer.ts';
import type { OpenRequest } from '../graph/graph.ts';
import { canonicalJson } from '../ground/json.ts';
import { groupBy } from '../ground/values.ts';
import { compareListed, isOpenField, isSameField, type ListedRecord } from '../plan/purchases/match-listed.ts';

/** A create request that may have reached the service and whose answer is unknown. */
export interface LostCreate {
  id: string;
  request: OpenRequest;
  /** Newest job of the list before the request was sent; missing for requests that are not looked up. */
  fence?: string;
  /** True when it was resent after an earlier look-up had found nothing. */
  resent: boolean;
}

/**
 * Decides, from two walks through the list of a kind, what became of create requests of this kind whose answers were
 * lost. `fields`: fields that the list echoes, most distinctive first. `lost`: all open create requests of the kind,
 * including those in flight: a record that could belong to two different requests is assigned to neither. `known`: jobs
 * on record. Identical requests (takes) are interchangeable. Verdicts are keyed by send ID.
 */
export function decideLookUp<Job extends ListedRecord>(
  lost: readonly LostCreate[],
  walks: readonly [ListWalk<Job>, ListWalk<Job>],
  { fields, known }: { fields: readonly string[]; known: ReadonlyMap<string, OpenRequest | undefined> },
): Map<string, LookUpVerdict<Job>> {
  const all = [...new Map(walks.flatMap(({ jobs }) => jobs.map((job) => [job.jobId, job] as const))).values()];
  const calibrated = findCalibrated([...all, ...walks.flatMap(({ older }) => older)], { fields, known });
  const [telling] = fields;
  const groups = [...groupBy(lost, ({ request }) => canonicalJson(request)).values()].map((creates) => ({
    creates,
    ...findLike(creates, strangersOf(creates, walks, known), fields, calibrated),
  }));
  const verdicts = new Map<string, LookUpVerdict<Job>>();
  for (const group of groups) {
    const { creates, exact, near } = group;
    const candidates = [...exact, ...near];
    const isShared = groups.some((other) => other !== group && other.exact.some((job) => exact.includes(job)));
    const doubt = !walks.every(({ complete }) => complete)
      ? 'the list could not be read back to the time before it was sent'
      : creates.some(({ fence }) => fence === '') && !showsAll(walks, known)
        ? 'the list does not show all jobs that are on record'
        : telling === undefined || !calibrated.has(telling)
          ? 'no known job shows that the list gives requests back unchanged'
          : near.length > 0
            ? 'the list shows jobs that are like it, but not the same'
            : exact.length > creates.length || isShared
              ? 'the list shows more jobs that it could be than were sent'
              : undefined;
    for (const [index, { id, resent }] of creates.entries()) {
      const job = exact[index];
      if (doubt !== undefined) verdicts.set(id, { do: 'hold', error: doubt, candidates });
      else if (job !== undefined) verdicts.set(id, { do: 'adopt', job });
      else if (!resent) verdicts.set(id, { do: 'resend' });
      else verdicts.set(id, { do: 'hold', error: 'sent twice, and the list shows neither', candidates });
    }
  }
  return verdicts;
}

/** Fields that the list returned unchanged for at least one known job, and with a different value for none. */
export function findCalibrated(
  jobs: readonly ListedRecord[],
  { fields, known }: { fields: readonly string[]; known: ReadonlyMap<string, OpenRequest | undefined> },
): Set<string> {
  const isSame = (field: string): boolean[] =>
    jobs.flatMap(({ jobId, echoes }) => {
      const wanted = known.get(jobId)?.[field];
      return wanted === undefined || isOpenField(wanted) ? [] : [isSameField(wanted, echoes[field])];
    });
  return new Set(
    fields.filter((field) => {
      const seen = isSame(field);
      return seen.length > 0 && seen.every(Boolean);
    }),
  );
}

function findLike<Job extends ListedRecord>(
  creates: readonly LostCreate[],
  jobs: readonly Job[],
  fields: readonly string[],
  calibrated: ReadonlySet<string>,
): { exact: Job[]; near: Job[] } {
  const like: { exact: Job[]; near: Job[] } = { exact: [], near: [] };
  const request = creates[0]?.request;
  const [telling] = fields;
  if (request === undefined || telling === undefined) return like;
  for (const job of jobs) {
    // A job whose distinguishing field cannot be compared may be any of them.
    const isOpen = [request[telling], job.echoes[telling]].some((value) => typeof value !== 'string');
    const is = isOpen ? 'near' : compareListed(request, job.echoes, fields, (field) => calibrated.has(field));
    if (is !== 'other') like[is].push(job);
  }
  return like;
}

/**
 * Listed jobs that may belong to these create requests: not on record, and newer than the list before the first
 * request.
 */
function strangersOf<Job extends ListedRecord>(
  creates: readonly LostCreate[],
  walks: readonly ListWalk<Job>[],
  known: ReadonlyMap<string, unknown>,
): Job[] {
  const fences = [...new Set(creates.flatMap(({ fence }) => fence ?? []))];
  const found = walks.flatMap(({ jobs }) => {
    const places = fences.map((fence) => jobs.findIndex(({ jobId }) => jobId === fence));
    // A fence that the list does not show is older than all its jobs.
    return places.length === 0 || places.includes(-1) ? jobs : jobs.slice(0, Math.max(...places));
  });
  const strangers = new Map(found.map((job) => [job.jobId, job]));
  return [...strangers.values()].filter(({ jobId }) => !known.has(jobId));
}

/** Checks that the list is complete: if it was empty at the create request, it must show every recorded job. */
function showsAll(walks: readonly ListWalk<ListedRecord>[], known: ReadonlyMap<string, unknown>): boolean {
  const shown = new Set(walks.flatMap(({ jobs }) => jobs.map(({ jobId }) => jobId)));
  return [...known.keys()].every((jobId) => shown.has(jobId));
}
