import type { JobEnd } from '../contract/answer.ts';
import type { Clock } from '../contract/clock.ts';
import type { WatchOptions } from '../contract/ports.ts';
import type { Json } from '../ground/json.ts';
import { envelope, jobStates } from '../kinds/envelope.ts';
import { requireKind, requireOf } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { asksToWait, isServiceError, parseRetryAfter, readAt, readMessage, readReason, readResult } from './fields.ts';
import { type HttpAnswer, pathWithId } from './http.ts';
import type { Observation, Poller } from './polling/poller.ts';
import type { Redact } from './secrets.ts';

/** Counts failed queries of all jobs at a host. Simultaneous failures of many jobs count as one. */
interface HostHealth {
  failures: number;
  countAgainAt: number;
  isLeavingHinted?: true;
  isTroubleNoticed?: true;
}

/** Returns the time in ms after a failure in which no other failure counts. Ten failures take about 40 s. */
function failureIntervalMs(failures: number): number {
  return Math.min(5000, 250 * 2 ** failures);
}

export interface WatchPorts {
  clock: Pick<Clock, 'now'>;
  poller: Poller;
  health: HostHealth;
  /** Time in ms for which a job is watched. Afterwards, the job continues at the service. */
  patienceMs: number;
  redact: Redact;
}

/** Time in ms after which a job counts as lost if its status queries are answered with 404. */
const unknownPatienceMs = 30_000;
const mostHostFailures = 10;
/** Number of failed queries after which the user is notified. They take about 4 s. */
const noticedHostFailures = 4;
/** Number of further queries of a job in an undocumented state with an error. */
const mostOdd = 3;
/** Number of typical durations, at least an hour, after which the user is notified that a job takes long. */
const mostDurations = 10;
const leastLongMs = 3_600_000;
/** Number of further queries of a COMPLETED job whose status contains no link. */
const mostLinkless = 5;

/**
 * Queries a job until it ends, or until the run stops waiting for it. A job ends only with FAILED, or with COMPLETED
 * and a link. After any other answer, queries it again, because queries are free.
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
    return await new Watch({ kind, jobId: job.jobId }, ports, options).follow(observed);
  } finally {
    observed.leave();
  }
}

type Answered = Extract<HttpAnswer, { is: 'answer' }>;

class Watch {
  readonly #kind: Kind;
  readonly #jobId: string;
  readonly #ports: WatchPorts;
  readonly #options: WatchOptions;
  readonly #startedAt: number;
  readonly #patienceMs: number;
  readonly #longMs: number;
  #afterMs = 0;
  #hasFailed = false;
  #denials = 0;
  #unknownSince: number | undefined;
  #linkless = 0;
  #odd = 0;
  #status = '';
  #statusSince: number;
  #trouble = '';

  constructor({ kind, jobId }: { kind: Kind; jobId: string }, ports: WatchPorts, options: WatchOptions) {
    this.#kind = kind;
    this.#jobId = jobId;
    this.#ports = ports;
    this.#options = options;
    this.#startedAt = ports.clock.now();
    this.#statusSince = this.#startedAt;
    this.#patienceMs = Math.min(ports.patienceMs, options.patienceMs ?? Number.POSITIVE_INFINITY);
    this.#longMs = Math.max(leastLongMs, mostDurations * kind.typicalMs);
  }

  async follow(observed: Observation): Promise<JobEnd> {
    const { path, alias = path } = requireOf(this.#kind.name, 'status');
    const untilMs = this.#startedAt + this.#patienceMs + 1;
    while (this.#ports.clock.now() - this.#startedAt <= this.#patienceMs) {
      const asked = pathWithId(this.#hasFailed ? alias : path, this.#jobId);
      const answer = await observed.next({ path: asked, afterMs: this.#afterMs, untilMs });
      if (this.#options.signal.aborted) return unwatched('signal', 'interrupted');
      if (answer === undefined) break;
      this.#afterMs = 0;
      this.#hasFailed = !this.#hasFailed && answer.is === 'answer' && answer.status >= 500;
      const end = answer.is === 'broken' ? this.#endAfterFailure(answer.message) : this.#read(answer, asked);
      if (end !== undefined) return end;
    }
    const limit = this.#patienceMs < this.#ports.patienceMs ? 'the `timeout` of the task' : '--patience';
    const cause = this.#trouble === '' ? '' : ` (${this.#trouble})`;
    const isOver = this.#ports.clock.now() - this.#startedAt > this.#patienceMs;
    const why = isOver ? 'the job took' : 'the service asks to wait';
    return unwatched('patience', `${why} longer than ${limit}${cause}; run again to collect the job`);
  }

  #read({ json, status: code, headers }: Answered, path: string): JobEnd | undefined {
    const { health, redact, clock } = this.#ports;
    const isOwnWord = isServiceError(json);
    const lacksStatus = code < 300 && json !== undefined && !isOwnWord;
    const message = lacksStatus
      ? `the answer of GET ${path} (HTTP ${code}) has no \`data.status\`; check MEDIABATCH_BASE_URL`
      : readMessage(json, code, redact, headers.location);
    // After a single refused query, the job is queried again.
    this.#denials = isOwnWord && (code === 401 || code === 403) ? this.#denials + 1 : 0;
    if (this.#denials > 1) return unwatched('auth', message);
    if (code === 404 && isOwnWord) {
      health.failures = 0;
      this.#unknownSince ??= clock.now();
      const unknownMs = clock.now() - this.#unknownSince;
      this.#afterMs = Math.min(5000, 750 + unknownMs / 2);
      return unknownMs >= unknownPatienceMs ? { is: 'lost', error: message } : undefined;
    }
    const data = (code >= 200 && code < 300 ? readAt(json, envelope.answer.data) : undefined) ?? null;
    const id = readAt(data, envelope.job.id);
    const isOther = id !== undefined && !mayBeOf(this.#jobId, id);
    const status = readAt(data, envelope.job.status);
    if (isOther || typeof status !== 'string') {
      const asked = parseRetryAfter(headers);
      // A 429 answer with a Retry-After, or with the service's own error format, is not a failure of the host.
      const counts = code !== 429 || (asked === undefined && !isOwnWord);
      return this.#endAfterFailure(isOther ? 'the answer contains the status of another job' : message, {
        asked,
        counts,
      });
    }
    health.failures = 0;
    this.#unknownSince = undefined;
    this.#trouble = '';
    this.#noteStatus(status);
    if (status === envelope.states.completed) return this.#endOfCompleted(data);
    if (status !== envelope.states.failed) return this.#endOfWait(data);
    const { error: reason } = envelope.job;
    const error = readReason(data, [reason, `${reason}.message`], [reason]) ?? 'the service gave no reason';
    return { is: 'failed', error: redact(error).slice(0, 500) };
  }

  /** Counts a failure. Stops querying after too many failures. `asked`: wait in ms that the service demands. */
  #endAfterFailure(
    message: string,
    { asked = 0, counts = true }: { asked?: number | undefined; counts?: boolean } = {},
  ): JobEnd | undefined {
    const { clock, health } = this.#ports;
    const now = clock.now();
    if (counts && now >= health.countAgainAt) {
      health.failures += 1;
      health.countAgainAt = now + failureIntervalMs(health.failures);
    }
    this.#trouble = `the service returned no usable answer: ${message}${asksToWait(asked)}`;
    if (health.failures >= mostHostFailures) return unwatched('unreachable', this.#trouble);
    this.#afterMs = Math.max(Math.min(150_000, asked), failureIntervalMs(health.failures));
    const isLast = now + this.#afterMs - this.#startedAt > this.#patienceMs;
    const isNews = asksToWait(asked) !== '' || health.failures >= noticedHostFailures;
    if (isNews && !isLast && health.isTroubleNoticed === undefined) {
      health.isTroubleNoticed = true;
      this.#options.notice(`${this.#trouble}; trying again, no job is lost`);
    }
    return undefined;
  }

  #noteStatus(status: string): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#statusSince = this.#ports.clock.now();
    this.#options.onStatus(this.#shownStatus);
    if (jobStates.includes(status)) return;
    this.#options.notice(
      `the service reports job ${this.#jobId} as “${this.#shownStatus}”, which is not a documented status; still waiting`,
    );
  }

  get #shownStatus(): string {
    return this.#ports.redact(this.#status).slice(0, 60);
  }

  #endOfCompleted(data: Json): JobEnd | undefined {
    const result = readResult(this.#kind, data);
    if (result !== undefined) return { is: 'completed', result };
    this.#trouble = noLink;
    this.#linkless += 1;
    this.#afterMs = Math.min(5000, 500 * 2 ** this.#linkless);
    if (this.#linkless <= mostLinkless) return undefined;
    const parts = this.#kind.parts && readAt(data, this.#kind.parts.name);
    const isEmpty = Array.isArray(parts) && parts.length === 0;
    return isEmpty ? { is: 'completed', result: { values: {}, files: [], parts: 0 } } : unwatched('patience', noLink);
  }

  #endOfWait(data: Json): JobEnd | undefined {
    const { clock, health, redact } = this.#ports;
    const now = clock.now();
    const isKnown = jobStates.includes(this.#status);
    const reason = isKnown ? undefined : readReason(data, envelope.job.error, []);
    this.#odd = reason === undefined ? 0 : this.#odd + 1;
    if (this.#odd > mostOdd || (!isKnown && now - this.#statusSince > this.#longMs)) {
      const why = reason === undefined ? `for ${inHours(this.#longMs)}` : redact(reason);
      const advice = 'run again to check the job, or use --redo to buy the step again';
      return unwatched('patience', `the service reports the job as “${this.#shownStatus}”: ${why}; ${advice}`);
    }
    const isLong = this.#patienceMs === Number.POSITIVE_INFINITY && now - this.#startedAt > this.#longMs;
    if (isLong && health.isLeavingHinted === undefined) {
      health.isLeavingHinted = true;
      this.#options.notice(
        `job ${this.#jobId} has been ${this.#shownStatus} for more than ${inHours(this.#longMs)}, far longer than usual. To stop waiting, press Ctrl-C: the job stays paid, and the next run collects it. --patience 2h does this automatically`,
      );
    }
    return undefined;
  }
}

function unwatched(because: Extract<JobEnd, { is: 'unwatched' }>['because'], error: string): JobEnd {
  return { is: 'unwatched', because, error };
}

/**
 * Returns whether an answer with `id` may belong to the watched job. `jobId` comes from the answer to the create
 * request, and may be the number of the job's record instead of the job's ID. Two different numbers, or two different
 * IDs that are not numbers, belong to two jobs.
 */
function mayBeOf(jobId: string, id: Json): boolean {
  return id === jobId || (typeof id === 'string' && /^\d+$/.test(jobId) && !/^\d*$/.test(id));
}

function inHours(ms: number): string {
  return `${Math.round(ms / 3_600_000)} h`;
}

const noLink = 'the job is completed but the service returned no link to the output';
