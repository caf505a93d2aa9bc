/** What the stub is told: which job takes how long, how big outputs are, and how often it may be asked. */
export interface StubConfig {
  /** By the number of the step, which stands in its prompt as `#17`; or one for all. */
  durationsMs: number[] | number;
  /** Size of each picture; undefined: one pixel. */
  outputBytes?: number;
  /** Jobs that are made in a second, one after the other; a create is answered when its turn has come. */
  createsPerSecond?: number;
  /** Status and list reads that are answered in a second; more are refused with 429. */
  readsPerSecond?: number;
  /** Reached over TLS, and every byte is under way for so long, in ms. The certificate is for 127.0.0.1. */
  far?: { delayMs: number; key: string; certificate: string };
}

/** What the stub counted. */
export interface StubStats {
  creates: number;
  polls: number;
  listReads: number;
  downloads: number;
  /** How long after their end jobs were seen to be done, in ms. */
  meanDetectionMs: number;
}

export interface StubJob {
  id: string;
  kind: string;
  prompt: string;
  durationMs: number;
  createdAt: number;
  doneAt: number;
  seen: boolean;
}

/** The jobs of one run and everything that is counted about them. Times are ms of the wall clock. */
export class StubJobs {
  readonly counts = { creates: 0, polls: 0, listReads: 0, downloads: 0 };
  readonly byId = new Map<string, StubJob>();
  /** In the order they were made, by kind. */
  readonly byKind = new Map<string, StubJob[]>();
  readonly #byKey = new Map<string, StubJob>();
  readonly #config: StubConfig;
  #seen = 0;
  #detectionMs = 0;
  #tokens: number;
  #filledAt = now();
  #createdAt = 0;

  constructor(config: StubConfig) {
    this.#config = config;
    this.#tokens = 2 * (config.readsPerSecond ?? 0);
  }

  /** In so many ms the turn of a create comes that arrives now. */
  turnOfCreate(): number {
    const { createsPerSecond } = this.#config;
    if (createsPerSecond === undefined) return 0;
    this.#createdAt = Math.max(now(), this.#createdAt) + 1000 / createsPerSecond;
    return this.#createdAt - now();
  }

  /** The same job for the same key, as the service does it. */
  create(kind: string, request: { key: string | undefined; body: string }): StubJob {
    const known = request.key === undefined ? undefined : this.#byKey.get(request.key);
    if (known !== undefined) return known;
    this.counts.creates += 1;
    const { durationsMs } = this.#config;
    const number = Number(/#(\d+)/.exec(request.body)?.[1] ?? Number.NaN);
    const durationMs = typeof durationsMs === 'number' ? durationsMs : durationsMs[number];
    if (durationMs === undefined) throw new Error(`no duration for ${request.body}`);
    const createdAt = now();
    const id = `job_${this.counts.creates.toString(36).padStart(8, '0')}`;
    const prompt = /"prompt":"([^"]*)"/.exec(request.body)?.[1] ?? '';
    const job = { id, kind, prompt, durationMs, createdAt, doneAt: createdAt + durationMs, seen: false };
    this.byId.set(id, job);
    if (request.key !== undefined) this.#byKey.set(request.key, job);
    const list = this.byKind.get(kind);
    if (list === undefined) this.byKind.set(kind, [job]);
    else list.push(job);
    return job;
  }

  /** Whether it is done, as of now; the first time that somebody is told so is when it was detected. */
  notify(job: StubJob): boolean {
    const at = now();
    if (at < job.doneAt) return false;
    if (!job.seen) {
      job.seen = true;
      this.#seen += 1;
      this.#detectionMs += at - job.doneAt;
    }
    return true;
  }

  /** A bucket that holds two seconds' worth. */
  allowsRead(): boolean {
    const { readsPerSecond } = this.#config;
    if (readsPerSecond === undefined) return true;
    const at = now();
    this.#tokens = Math.min(2 * readsPerSecond, this.#tokens + ((at - this.#filledAt) / 1000) * readsPerSecond);
    this.#filledAt = at;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  stats(): StubStats {
    return { ...this.counts, meanDetectionMs: this.#seen === 0 ? 0 : this.#detectionMs / this.#seen };
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
