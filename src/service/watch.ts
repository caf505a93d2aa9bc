import { kinds } from '../kinds/index.ts';
import type { JobEnd } from './answer.ts';
import { parseRetryAfter, readMessage, readRecord } from './fields.ts';
import type { Http } from './http.ts';
import type { PollPolicy } from './polling.ts';
import type { Redact } from './secrets.ts';

export interface WatchOptions {
  signal: AbortSignal;
  /** Just created: the service may not know it everywhere yet. */
  fresh: boolean;
  onStatus(status: string): void;
  notice(message: string): void;
}

export interface WatchPorts {
  http: Http;
  clock: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void>; random(): number };
  policy: PollPolicy;
  /** Failures in a row of the whole host; shared by all jobs. */
  health: { failures: number };
  deadlineMs: number;
  /** Stop watching after so long; the job goes on. */
  patienceMs: number;
  redact: Redact;
}

/** How long a job may be unknown (404) before it counts as lost. */
const unknownPatienceMs = 30_000;
const mostHostFailures = 10;
/** COMPLETED without a link is asked about so many times more. */
const mostLinkless = 5;

/**
 * Follows one job until it has ended or is no longer watched. Reading is free of charge, so whatever cannot be
 * understood is asked again; only COMPLETED with a link and FAILED end a job.
 */
export async function watchJob(
  job: { kind: string; jobId: string },
  ports: WatchPorts,
  options: WatchOptions,
): Promise<JobEnd> {
  const { http, clock, policy, health, redact } = ports;
  const kind = kinds[job.kind];
  if (kind === undefined) throw new Error(`internal error: no kind ${job.kind}`);
  const path = kind.status.path.replace('{id}', encodeURIComponent(job.jobId));
  const startedAt = clock.now();
  let unknownSince: number | undefined;
  let linkless = 0;
  let lastStatus = '';
  let waitMs = options.fresh ? policy.firstMs(kind.typicalMs, clock.random()) : 0;

  for (let polls = 0; ; polls += 1) {
    await clock.sleep(waitMs, options.signal);
    if (options.signal.aborted) return { is: 'unwatched', because: 'signal', error: 'interrupted' };
    if (clock.now() - startedAt > ports.patienceMs) {
      return { is: 'unwatched', because: 'patience', error: 'it took longer than --patience; run again to collect it' };
    }
    const answer = await http.call({ method: 'GET', path, deadlineMs: ports.deadlineMs, signal: options.signal });
    waitMs = policy.nextMs(kind.typicalMs, polls, clock.random());
    if (answer.is === 'broken' || answer.status >= 500 || answer.status === 429) {
      if (options.signal.aborted) continue;
      health.failures += 1;
      if (health.failures >= mostHostFailures) {
        const seen = answer.is === 'broken' ? answer.message : redact(readMessage(answer.json, answer.status));
        return { is: 'unwatched', because: 'unreachable', error: `the service cannot be reached: ${seen}` };
      }
      const asked = answer.is === 'answer' ? parseRetryAfter(answer.headers['retry-after']) : null;
      waitMs = Math.max(waitMs, Math.min(150_000, asked ?? 0), Math.min(60_000, 500 * 2 ** health.failures));
      continue;
    }
    health.failures = 0;
    const message = redact(readMessage(answer.json, answer.status));
    if (answer.status === 401 || answer.status === 403) return { is: 'unwatched', because: 'auth', error: message };
    if (answer.status === 404) {
      unknownSince ??= clock.now();
      if (clock.now() - unknownSince >= unknownPatienceMs) return { is: 'lost', error: message };
      waitMs = Math.min(waitMs, 5000);
      continue;
    }
    unknownSince = undefined;
    const data = readRecord(readRecord(answer.json)?.data);
    const status = data?.status;
    if (typeof status !== 'string') {
      if (polls === 0) options.notice(`the status of job ${job.jobId} cannot be read (${message}); asking again`);
      continue;
    }
    if (status !== lastStatus) {
      lastStatus = status;
      options.onStatus(status);
      if (!knownStatuses.has(status)) {
        options.notice(
          `the service calls job ${job.jobId} “${redact(status.slice(0, 60))}”, a status it does not document; waiting on`,
        );
      }
    }
    if (status === 'COMPLETED') {
      if (typeof data?.outputUrl === 'string' && data.outputUrl !== '') return { is: 'completed', url: data.outputUrl };
      linkless += 1;
      if (linkless > mostLinkless) {
        return {
          is: 'unwatched',
          because: 'patience',
          error: 'it is completed but the service gives no link to its output',
        };
      }
    }
    if (status === 'FAILED') {
      const error = typeof data?.error === 'string' && data.error !== '' ? data.error : 'the service gives no reason';
      return { is: 'failed', error: redact(error.slice(0, 500)) };
    }
  }
}

const knownStatuses = new Set(['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED']);
