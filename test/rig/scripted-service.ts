import type {
  CreateAnswer,
  DownloadAnswer,
  JobEnd,
  ListedJob,
  ListWalk,
  UploadAnswer,
} from '../../src/contract/answer.ts';
import type { Clock } from '../../src/contract/clock.ts';
import type { ServiceError } from '../../src/contract/errors.ts';
import type { Downloads, Service, UploadOrder } from '../../src/contract/ports.ts';
import type { Json } from '../../src/ground/json.ts';
import { kinds } from '../../src/kinds/index.ts';

/** What happens to one create instead of a plain answer. `booked`: the service has charged before the answer is lost. */
export type Trouble = { answer: Exclude<CreateAnswer, { is: 'accepted' }>; booked?: boolean };

export interface BookedJob {
  jobId: string;
  kind: string;
  key: string;
  body: string;
  credits: number;
  bookedAt: number;
  readyAt: number;
}

/** The service in memory, with its own ledger: what it has charged, whatever the client believes. */
export class ScriptedService implements Service, Downloads {
  readonly ledger: BookedJob[] = [];
  readonly requests: { call: 'create' | 'watch' | 'open' | 'upload' | 'list'; what: string }[] = [];
  readonly creates: { key: string; body: string }[] = [];
  balance = 1000;
  canReplay = true;
  jobMs = 5000;
  /** Instead of `jobMs`, for each job by its number from 1. */
  jobMsOf: ((job: { number: number; kind: string; body: string }) => number) | undefined;
  creditsOf: (body: string) => number = () => 3;
  /** Asked before each create, with its number from 1. */
  trouble: (create: number, body: string) => Trouble | undefined = () => undefined;
  endOf: (job: BookedJob) => JobEnd | undefined = () => undefined;
  opened: (url: string) => DownloadAnswer | undefined = () => undefined;
  /** The service charges and does not say how much. */
  silent = false;
  /** A request that repeats a key is told what it was charged itself: nothing. */
  replaysAreFree = false;
  tellsBalance: 'always' | 'never' | 'always the same' = 'always';
  nameOf: ((create: number) => string) | undefined;
  mostInFlight = 0;
  /** Creates that were waiting for their answers at the same time. */
  mostOnWire = 0;
  #onWire = 0;
  readonly #clock: Clock;
  readonly #running = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Replay is documented for these only. */
  replays(kind: string): boolean {
    return this.canReplay && (kind === 'image' || kind === 'music');
  }

  /** How far its clock is ahead of the client's. */
  aheadMs = 0;

  async clockAheadMs(): Promise<number> {
    return this.aheadMs;
  }

  async create(call: { kind: string; body: string; key: string }): Promise<CreateAnswer> {
    this.#onWire += 1;
    this.mostOnWire = Math.max(this.mostOnWire, this.#onWire);
    try {
      return await this.#create(call);
    } finally {
      this.#onWire -= 1;
    }
  }

  /** The same answer is given again for a key that was refused, for 24 hours: the documentation leaves it open. */
  repeatsRefusals = false;
  readonly #refusals = new Map<string, { at: number; answer: CreateAnswer }>();
  /** A key that comes back with other bytes is refused, for 24 hours from what it was first known by. */
  comparesBytes = false;
  readonly #bytes = new Map<string, { at: number; body: string }>();

  async #create(call: { kind: string; body: string; key: string }): Promise<CreateAnswer> {
    const { kind, key } = call;
    this.creates.push({ key, body: call.body });
    this.requests.push({ call: 'create', what: call.body });
    const bound = this.comparesBytes && this.replays(kind) ? this.#bytes.get(key) : undefined;
    if (bound !== undefined && bound.body !== call.body && this.#now() - bound.at < 24 * 3_600_000) {
      await this.#answerTime();
      return { is: 'known', message: 'HTTP 422: reused [IDEMPOTENCY_KEY_REUSED]' };
    }
    const before = this.replays(kind) ? this.#refusals.get(key) : undefined;
    if (before !== undefined && this.#now() - before.at < 24 * 3_600_000) {
      await this.#answerTime();
      return before.answer;
    }
    const answer = await this.#decide(call);
    if (answer.is === 'refused' && this.repeatsRefusals) this.#refusals.set(key, { at: this.#now(), answer });
    const isBound = answer.is === 'accepted' || (answer.is === 'refused' && this.repeatsRefusals);
    if (isBound && bound === undefined) this.#bytes.set(key, { at: this.#now(), body: call.body });
    return answer;
  }

  async #decide({ kind, key, body }: { kind: string; body: string; key: string }): Promise<CreateAnswer> {
    const trouble = this.trouble(this.creates.length, body);
    await this.#alive();
    if (trouble !== undefined && !trouble.booked) {
      await this.#answerTime();
      return trouble.answer;
    }
    const known = this.replays(kind) ? this.#replayed(key) : undefined;
    const credits = this.creditsOf(body);
    if (known === undefined && credits > this.balance) {
      await this.#answerTime();
      return { is: 'refused', status: 402, why: 'credits', message: 'HTTP 402: insufficient credits' };
    }
    // Booked before it is answered: whoever dies in between has paid.
    const job = known ?? this.#book({ kind, key, body, credits });
    await this.#answerTime();
    if (trouble !== undefined) return trouble.answer;
    return {
      is: 'accepted',
      job: { jobId: job.jobId, credits: this.#toldCharge(job, known !== undefined), balance: this.#toldBalance() },
    };
  }

  #toldCharge({ credits }: BookedJob, isReplay: boolean): number | null {
    if (this.silent) return null;
    return isReplay && this.replaysAreFree ? 0 : credits;
  }

  #toldBalance(): number | null {
    if (this.tellsBalance === 'never') return null;
    return this.tellsBalance === 'always' ? this.balance : 1000;
  }

  /** The service forgets keys after 24 hours. */
  #replayed(key: string): BookedJob | undefined {
    const now = this.#now();
    return this.ledger.find((job) => job.key === key && now - job.bookedAt < 24 * 3_600_000);
  }

  /** The client's machine has gone: nobody hears any answer any more. */
  dead: () => boolean = () => false;

  #now(): number {
    return this.#clock.now() + this.aheadMs;
  }

  async #alive(): Promise<void> {
    if (this.dead()) await new Promise(() => {});
  }

  async #answerTime(): Promise<void> {
    await this.#clock.sleep(50);
    await this.#alive();
  }

  #book({ kind, key, body, credits }: { kind: string; key: string; body: string; credits: number }): BookedJob {
    const jobId = this.nameOf?.(this.ledger.length + 1) ?? `job-${key.slice(4, 12)}-${this.ledger.length + 1}`;
    const job = {
      jobId,
      kind,
      key,
      body,
      credits,
      bookedAt: this.#now(),
      readyAt: this.#now() + (this.jobMsOf?.({ number: this.ledger.length + 1, kind, body }) ?? this.jobMs),
    };
    this.ledger.push(job);
    this.balance -= credits;
    this.#running.add(jobId);
    this.mostInFlight = Math.max(this.mostInFlight, this.#running.size);
    return job;
  }

  /** Jobs of the same account that somebody else made: newest last, before what this client makes. */
  readonly others: { kind: string; jobId: string; bookedAt: number; request: { [field: string]: Json } }[] = [];
  /** Lists say what was charged. */
  listsCredits = false;
  /** A job stands in its list so long after it was booked. */
  listLagMs = 0;
  /** What a list gives back of a request; undefined: the record is left out. */
  shown: (echoes: { [field: string]: Json }) => { [field: string]: Json } = (echoes) => echoes;
  listTrouble: (read: number) => ServiceError | undefined = () => undefined;
  #listReads = 0;

  async newestJob(kind: string): Promise<string> {
    return (await this.#list(kind))[0]?.jobId ?? '';
  }

  async walkJobs(kind: string, fences: readonly string[]): Promise<ListWalk<ListedJob>> {
    const all = await this.#list(kind);
    const places = fences.map((fence) => (fence === '' ? all.length : all.findIndex(({ jobId }) => jobId === fence)));
    const end = Math.max(...places);
    if (fences.length === 0 || places.includes(-1)) return { jobs: all, older: [], complete: false };
    return { jobs: all.slice(0, end), older: all.slice(end), complete: true };
  }

  async #list(kind: string): Promise<ListedJob[]> {
    await this.#alive();
    this.requests.push({ call: 'list', what: kind });
    this.#listReads += 1;
    const trouble = this.listTrouble(this.#listReads);
    await this.#answerTime();
    if (trouble !== undefined) throw trouble;
    const fields = Object.keys(kinds[kind]?.list?.echoes ?? {});
    const own = this.ledger.map((job) => ({ ...job, request: JSON.parse(job.body) as { [field: string]: Json } }));
    return [...this.others, ...own]
      .filter((job) => job.kind === kind && job.bookedAt + this.listLagMs <= this.#now())
      .sort((a, b) => a.bookedAt - b.bookedAt)
      .reverse()
      .map(({ jobId, request, bookedAt }) => {
        const echoes = Object.fromEntries(
          fields.flatMap((field) => (request[field] === undefined ? [] : [[field, request[field]]])),
        ) as { [field: string]: Json };
        const createdAt = new Date(bookedAt).toISOString();
        const credits = this.listsCredits ? this.ledger.find((job) => job.jobId === jobId)?.credits : undefined;
        return {
          kind,
          jobId,
          status: 'PROCESSING',
          createdAt,
          echoes: this.shown(echoes),
          ...(credits && { credits }),
        };
      });
  }

  async watch({ jobId }: { kind: string; jobId: string }, { signal }: { signal: AbortSignal }): Promise<JobEnd> {
    this.requests.push({ call: 'watch', what: jobId });
    const job = this.ledger.find((booked) => booked.jobId === jobId);
    if (job === undefined) return { is: 'lost', error: 'HTTP 404: not found' };
    await this.#alive();
    await this.#clock.sleep(job.readyAt - this.#now(), signal);
    await this.#alive();
    if (signal.aborted && this.#now() < job.readyAt) {
      return { is: 'unwatched', because: 'signal', error: 'interrupted' };
    }
    this.#running.delete(jobId);
    return this.endOf(job) ?? completed(`https://files.example/${jobId}`);
  }

  /** What is in the media library: each upload by the path or link that it came from. */
  readonly library: string[] = [];
  uploaded: (order: UploadOrder) => UploadAnswer | undefined = () => undefined;

  async upload(order: UploadOrder): Promise<UploadAnswer> {
    const from = 'path' in order ? order.path : order.url;
    this.requests.push({ call: 'upload', what: from });
    await this.#answerTime();
    const answer = this.uploaded(order);
    if (answer !== undefined) return answer;
    this.library.push(from);
    return { is: 'uploaded', assetId: `asset-${this.library.length}`, url: `https://library.example/${from}` };
  }

  async open(url: string): Promise<DownloadAnswer> {
    this.requests.push({ call: 'open', what: url });
    await this.#alive();
    return this.opened(url) ?? { is: 'open', download: { body: bodyOf(url) } };
  }
}

/** A job that gives these files; several of them are the clips of one. */
export function completed(...files: string[]): JobEnd {
  const [url = ''] = files;
  const clips = files.length > 1 ? files.map((file, index) => [`clips.${index}.url`, file]) : [];
  return {
    is: 'completed',
    result: { values: { url, ...Object.fromEntries(clips) }, files, ...(files.length > 1 && { parts: files.length }) },
  };
}

async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
