import type { JobEnd } from '../contract/answer.ts';
import type { Clock } from '../contract/clock.ts';
import type { WatchOptions } from '../contract/ports.ts';
import type { Json } from '../ground/json.ts';
import { envelope, jobStates } from '../kinds/envelope.ts';
import { requireKind, requireOf } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { isServiceError, parseRetryAfter, readAt, readMessage, readResult, readText } from './fields.ts';
import { pathWithId } from './http.ts';
import type { Observation, Poller } from './polling/poller.ts';
import type { Redact } from './secrets.ts';

/** Failures of the host; a short failure that many jobs meet at once counts once. */
interface HostHealth {
  failures: number;
  countAgainAt: number;
  /** Set once the user was notified that a run that takes far longer than usual may be left. */
  isLeavingHinted?: true;
  /** Set once the user was notified of failures that may pass. */
  isTroubleNoticed?: true;
}

function countFailure(health: HostHealth, now: number): void {
  if (now < health.countAgainAt) return;
  health.failures += 1;
  health.countAgainAt = now + failureIntervalMs(health.failures);
}

/**
 * Returns the time in ms until a failure counts again, 0.5 to 5 s: ten failures are about forty seconds without a
 * usable answer.
 */
function failureIntervalMs(failures: number): number {
  return Math.min(5000, 250 * 2 ** failures);
}

export interface WatchPorts {
  clock: Pick<Clock, 'now'>;
  poller: Poller;
  /** Shared by all jobs. */
  health: HostHealth;
  /** Time in ms after which watching stops; the job continues at the service. */
  patienceMs: number;
  redact: Redact;
}

/** Time in ms for which a job may be unknown (404) before it counts as lost. */
const unknownPatienceMs = 30_000;
const mostHostFailures = 10;
/** About four seconds without a usable answer. */
const noticedHostFailures = 4;
/** Number of further queries when a job in an undocumented state has an error. */
const mostOdd = 3;
/** A wait is far too long after this many typical durations, and at least an hour. */
const mostDurations = 10;
const leastLongMs = 3_600_000;
/** Number of further queries when a COMPLETED job has no link. */
const mostLinkless = 5;

/**
 * Watches one job until it has ended or is no longer watched. Queries are free, so an unintelligible answer leads to
 * another query; only COMPLETED with a link and FAILED end a job.
 */
export async function watchJob(
  job: { kind: string; jobId: string; model?: string },
  ports: WatchPorts,
  options: WatchOptions,
): Promise<JobEnd> {
  const kind = requireKind(job.kind);
  const { fresh, signal, urgency = () => 1 } = options;
  const observed = ports.poller.observe({ ...job, kind }, { fresh, urgency, signal });
  try {
    return await follow({ kind, jobId: job.jobId, observed }, ports, options);
  } finally {
    observed.leave();
  }
}

async function follow(
  job: { kind: Kind; jobId: string; observed: Observation },
  ports: WatchPorts,
  options: WatchOptions,
): Promise<JobEnd> {
  const { clock, health, redact } = ports;
  const { kind, observed } = job;
  const statusCall = requireOf(kind.name, 'status');
  const patienceMs = Math.min(ports.patienceMs, options.patienceMs ?? Number.POSITIVE_INFINITY);
  const startedAt = clock.now();
  let unknownSince: number | undefined;
  let unknowns = 0;
  let linkless = 0;
  let failed = false;
  let lastStatus = '';
  let afterMs = 0;
  let denials = 0;
  let odd = 0;
  const longMs = Math.max(leastLongMs, mostDurations * kind.typicalMs);
  let statusSince = startedAt;
  /** Cause of the wait if it is not the job itself. */
  let trouble = '';

  for (;;) {
    if (clock.now() - startedAt > patienceMs) {
      const limit = patienceMs < ports.patienceMs ? 'the `timeout` of its task' : '--patience';
      const cause = trouble === '' ? '' : ` (${trouble})`;
      const error = `it took longer than ${limit}${cause}; run again to collect it`;
      return { is: 'unwatched', because: 'patience', error };
    }
    const path = pathWithId(failed ? (statusCall.alias ?? statusCall.path) : statusCall.path, job.jobId);
    const answer = await observed.next({ path, afterMs, untilMs: startedAt + patienceMs + 1 });
    if (answer === undefined || options.signal.aborted) {
      return { is: 'unwatched', because: 'signal', error: 'interrupted' };
    }
    afterMs = 0;
    const message = answer.is === 'broken' ? answer.message : readMessage(answer.json, answer.status, redact);
    const code = answer.is === 'broken' ? 0 : answer.status;
    failed = !failed && code >= 500;
    const isOwnWord = answer.is === 'answer' && isServiceError(answer.json);
    // A single unexpected denial does not end the watch.
    denials = isOwnWord && (code === 401 || code === 403) ? denials + 1 : 0;
    if (denials > 1) return { is: 'unwatched', because: 'auth', error: message };
    if (code === 404 && isOwnWord) {
      health.failures = 0;
      unknownSince ??= clock.now();
      if (clock.now() - unknownSince >= unknownPatienceMs) return { is: 'lost', error: message };
      unknowns += 1;
      afterMs = Math.min(5000, 500 * 1.5 ** unknowns);
      continue;
    }
    const data =
      answer.is === 'answer' && code >= 200 && code < 300 ? readAt(answer.json, envelope.answer.data) : undefined;
    const id = readAt(data, envelope.job.id);
    const isOther = id !== undefined && !mayBeOf(job.jobId, id);
    const status = isOther ? undefined : readAt(data, envelope.job.status);
    if (typeof status !== 'string') {
      const asked = answer.is === 'answer' ? parseRetryAfter(answer.headers[envelope.headers.retryAfter]) : null;
      // A 429 with a Retry-After, or with the service's own body, comes from the service and is no failure. Any other
      // failure comes from a proxy, a host or a connection.
      if (code !== 429 || (asked === null && !isOwnWord)) countFailure(health, clock.now());
      trouble = `the service gives no usable answer: ${isOther ? 'the status of another job' : message}`;
      if (health.failures >= mostHostFailures) return { is: 'unwatched', because: 'unreachable', error: trouble };
      if (health.failures >= noticedHostFailures && health.isTroubleNoticed === undefined) {
        health.isTroubleNoticed = true;
        options.notice(`${trouble}; trying again, no job is lost`);
      }
      afterMs = Math.max(Math.min(150_000, asked ?? 0), failureIntervalMs(health.failures));
      continue;
    }
    health.failures = 0;
    unknownSince = undefined;
    unknowns = 0;
    trouble = '';
    if (status !== lastStatus) {
      lastStatus = status;
      statusSince = clock.now();
      options.onStatus(redact(status).slice(0, 60));
      if (!jobStates.includes(status)) {
        options.notice(
          `the service calls job ${job.jobId} “${redact(status).slice(0, 60)}”, a status it does not document; waiting on`,
        );
      }
    }
    if (status === envelope.states.completed) {
      const result = data === undefined ? undefined : readResult(kind, data);
      if (result !== undefined) return { is: 'completed', result };
      linkless += 1;
      afterMs = Math.min(5000, 500 * 2 ** linkless);
      if (linkless > mostLinkless) {
        if (kind.parts !== undefined && isEmptyList(readAt(data, kind.parts.name))) {
          return { is: 'completed', result: { values: {}, files: [], parts: 0 } };
        }
        return { is: 'unwatched', because: 'patience', error: noLink };
      }
      trouble = noLink;
    }
    if (status === envelope.states.failed) {
      const error = readText(data, envelope.job.error, Number.POSITIVE_INFINITY) ?? 'the service gives no reason';
      return { is: 'failed', error: redact(error).slice(0, 500) };
    }
    const isKnown = jobStates.includes(status);
    const reason = isKnown ? undefined : readText(data, envelope.job.error);
    odd = reason === undefined ? 0 : odd + 1;
    const isStuck = !isKnown && clock.now() - statusSince > longMs;
    if (odd > mostOdd || isStuck) {
      const why = reason === undefined ? `for ${inHours(longMs)}` : redact(reason);
      const error = `the service calls it “${redact(status).slice(0, 60)}”: ${why}; run again to check it, or --redo to buy it again`;
      return { is: 'unwatched', because: 'patience', error };
    }
    if (
      patienceMs === Number.POSITIVE_INFINITY &&
      clock.now() - startedAt > longMs &&
      health.isLeavingHinted === undefined
    ) {
      health.isLeavingHinted = true;
      options.notice(
        `job ${job.jobId} has been ${redact(status).slice(0, 60)} for more than ${inHours(longMs)}, far longer than usual. Ctrl-C leaves the run: the job stays paid, and the next run collects it. --patience 2h does this by itself`,
      );
    }
  }
}

/**
 * True if an answer that names `id` may be about the watched job. A create request may be answered with the number of a
 * record, and the status with the job's own ID. Two numbers, or two other strings, are two different jobs.
 */
function mayBeOf(jobId: string, id: Json): boolean {
  return id === jobId || (typeof id === 'string' && /^\d+$/.test(jobId) && !/^\d*$/.test(id));
}

function inHours(ms: number): string {
  return `${Math.round(ms / 3_600_000)} h`;
}

const noLink = 'it is completed but the service gives no link to its output';

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}
