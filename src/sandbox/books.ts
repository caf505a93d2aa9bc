import { digest } from './digest.ts';
import type { Journal } from './journal.ts';
import { findKind } from './kinds/index.ts';
import type { FileFacts, SandboxKind } from './kinds/kind.ts';
import { bodyText, type OwnPath, readOwnUrl } from './own-url.ts';
import { fitBody } from './read-body.ts';
import { isObject, type JsonObject } from './wire.ts';

export interface Job extends FileFacts {
  readonly entry: LedgerEntry;
  readonly kind: SandboxKind;
  /** Folder name in the URLs of the job's files, which nobody can guess. */
  readonly token: string;
  /** ID of the job's record, for kinds in which it differs from the job's ID. */
  readonly recordId: string;
  readonly take: number;
  readonly files: ReturnType<SandboxKind['listFiles']>;
  readonly source: OwnPath | undefined;
}

interface Create {
  readonly now: number;
  readonly key: string | null;
  readonly body: JsonObject;
}

/** Returns the price of a create request at the simulated service. Returns undefined if the price is unknown. */
export type PriceOf = (kind: string, body: JsonObject) => number | undefined;

export class Books {
  readonly entries: LedgerEntry[] = [];
  readonly posts: LedgerEntry[] = [];
  private readonly startingCredits: number;
  private readonly journal: Journal | undefined;
  private readonly priceOf: PriceOf | undefined;
  private readonly balances = new Map<string, number>();
  /** Jobs by ID. Deleted jobs are included, because another job may use their output as its source. */
  private readonly jobs = new Map<string, Job>();
  private readonly deleted = new Set<string>();
  private readonly syncTimes = new Map<string, number>();
  private readonly idsByToken = new Map<string, string>();
  private readonly idsByRecord = new Map<string, string>();
  private readonly jobsByKey = new Map<string, Job>();
  private readonly timesByKey = new Map<string, number>();
  private readonly takes = new Map<string, number>();

  constructor(startingCredits: number, journal?: Journal, priceOf?: PriceOf) {
    this.startingCredits = startingCredits;
    this.priceOf = priceOf;
    this.journal = journal;
    for (const line of journal?.ledger.lines ?? []) this.take(readEntry(line));
    for (const { user, credits, after } of journal?.balances.lines ?? []) {
      if (typeof user !== 'string' || typeof credits !== 'number') continue;
      // Ignores a balance that was set before a ledger entry, which contains a newer balance.
      if (after === this.countOf(user)) this.balances.set(user, credits);
    }
    for (const line of journal?.deleted.lines ?? []) this.deleted.add(String(line.id));
    for (const line of journal?.synced.lines ?? []) this.syncTimes.set(String(line.id), Date.parse(String(line.at)));
  }

  setBalance(user: string, { credits, now }: { credits: number; now: number }): void {
    const at = new Date(now).toISOString();
    this.journal?.balances.append({ at, user, credits, after: this.countOf(user) });
    this.balances.set(user, credits);
  }

  private countOf(user: string): number {
    return this.entries.filter((entry) => entry.user === user).length;
  }

  /** Returns whether a job or post with this ID was ever accepted, even if it was deleted. */
  knows(id: string): boolean {
    return this.jobs.has(id) || this.posts.some((entry) => entry.id === id);
  }

  balance(user: string): number {
    return this.balances.get(user) ?? this.startingCredits;
  }

  price(kind: SandboxKind, body: JsonObject): number {
    return this.priceOf?.(kind.name, body) ?? kind.settle(fitBody(body, kind.create.body)).credits;
  }

  /** Writes a ledger entry to disk before it books the job. If the write fails, throws an error and books nothing. */
  book(user: string, kind: SandboxKind, create: Create): Job {
    const credits = this.price(kind, create.body);
    return this.takeJob(this.write({ user, kind: kind.name, credits }, create));
  }

  bookPost(user: string, create: { readonly now: number; readonly body: JsonObject }): LedgerEntry {
    return this.takePost(this.write({ user, kind: postKind, credits: 0 }, { ...create, key: null }));
  }

  private write(what: { user: string; kind: string; credits: number }, create: Create): LedgerEntry {
    const { user, kind, credits } = what;
    const at = new Date(create.now).toISOString();
    const id = this.nextId(user, kind, { at, ...create });
    const balance = this.balance(user) - credits;
    const entry: LedgerEntry = { at, id, user, kind, key: create.key, credits, balance, body: create.body };
    this.journal?.ledger.append({ ...entry });
    return entry;
  }

  /** Derives a job's ID from the idempotency key, so that two runs of a campaign can be compared byte by byte. */
  private nextId(user: string, kind: string, create: Create & { at: string }): string {
    const { at, key, body } = create;
    const which =
      key === null
        ? [String(this.entries.length), at, bodyText(body)]
        : [key, String(this.timesByKey.get(JSON.stringify([user, key])) ?? 0)];
    return digest('job', user, kind, ...which).slice(0, 24);
  }

  /** Returns a job of the user. Undefined if the job was deleted, or has another kind or user. `by`: type of the ID. */
  find(user: string, kinds: readonly SandboxKind[], what: { id: string; by: 'job' | 'record' }): Job | undefined {
    const job = this.jobs.get(what.by === 'job' ? what.id : (this.idsByRecord.get(what.id) ?? ''));
    if (job === undefined || this.deleted.has(job.entry.id)) return undefined;
    return job.entry.user === user && kinds.includes(job.kind) ? job : undefined;
  }

  list(chosen: (job: Job) => boolean): Job[] {
    return [...this.jobs.values()].filter((job) => !this.deleted.has(job.entry.id) && chosen(job)).reverse();
  }

  findMaker({ token, name }: OwnPath): Job | undefined {
    const job = this.jobs.get(this.idsByToken.get(token) ?? '');
    return job?.files.some((file) => file.name === name) ? job : undefined;
  }

  isDeleted(job: Job): boolean {
    return this.deleted.has(job.entry.id);
  }

  /** Finds even a deleted job, because the answer to its create request is replayed. */
  findByKey(user: string, key: string): Job | undefined {
    return this.jobsByKey.get(JSON.stringify([user, key]));
  }

  delete(job: Job, now: number): void {
    this.journal?.deleted.append({ at: new Date(now).toISOString(), id: job.entry.id });
    this.deleted.add(job.entry.id);
  }

  /** Returns the time in ms of the job's last status update, `undefined` if there was none. */
  syncedAt(job: Job): number | undefined {
    return this.syncTimes.get(job.entry.id);
  }

  recordSync(job: Job, now: number): void {
    this.journal?.synced.append({ at: new Date(now).toISOString(), id: job.entry.id });
    this.syncTimes.set(job.entry.id, now);
  }

  private take(entry: LedgerEntry): void {
    if (entry.kind === postKind) this.takePost(entry);
    else this.takeJob(entry);
  }

  private takePost(entry: LedgerEntry): LedgerEntry {
    this.posts.push(entry);
    this.count(entry);
    return entry;
  }

  private count(entry: LedgerEntry): void {
    this.entries.push(entry);
    this.balances.set(entry.user, entry.balance);
  }

  private takeJob(entry: LedgerEntry): Job {
    const job = this.makeJob(entry);
    this.jobs.set(entry.id, job);
    this.idsByToken.set(job.token, entry.id);
    this.idsByRecord.set(job.recordId, entry.id);
    if (entry.key !== null) {
      const key = JSON.stringify([entry.user, entry.key]);
      this.jobsByKey.set(key, job);
      this.timesByKey.set(key, (this.timesByKey.get(key) ?? 0) + 1);
    }
    this.count(entry);
    return job;
  }

  private makeJob(entry: LedgerEntry): Job {
    const { id, user } = entry;
    const kind = findKind(entry.kind);
    if (kind === undefined) throw new Error(`the ledger has a job of the unsupported kind ${entry.kind}`);
    const text = bodyText(entry.body);
    const body = fitBody(entry.body, kind.create.body);
    const sameBody = JSON.stringify([user, entry.kind, text]);
    const take = (this.takes.get(sameBody) ?? 0) + 1;
    this.takes.set(sameBody, take);
    // The seed of the first take depends on the body alone. Later takes differ, like repeated requests to a real
    // service.
    const seed = take === 1 ? digest('seed', entry.kind, text) : digest('seed', entry.kind, text, String(take));
    const sourceUrl = kind.sourceField === undefined ? undefined : body[kind.sourceField];
    const source = typeof sourceUrl === 'string' ? readOwnUrl(sourceUrl) : undefined;
    const maker = source === undefined ? undefined : this.findMaker(source);
    const sourceMs = maker?.kind.lengthMs?.(maker.body) ?? null;
    const token = digest('token', id).slice(0, 40);
    const recordId = digest('record', id).slice(0, 24);
    const files = kind.listFiles({ body, seed, sourceMs });
    return { entry, kind, token, recordId, seed, take, body, sourceMs, source, files };
  }
}

const postKind = 'post';

/** Ledger entry of an accepted create request. The entry is written before the answer is sent, and never changes. */
export interface LedgerEntry {
  /** ISO 8601. */
  readonly at: string;
  readonly id: string;
  readonly user: string;
  /** Kind of the job, or `post`. */
  readonly kind: string;
  /** Idempotency key, `null` if the request had none, or if the service ignores it. */
  readonly key: string | null;
  readonly credits: number;
  readonly balance: number;
  readonly body: JsonObject;
}

function readEntry(line: JsonObject): LedgerEntry {
  const { at, id, user, kind, key, credits, balance, body } = line;
  if (
    typeof at === 'string' &&
    typeof id === 'string' &&
    typeof user === 'string' &&
    typeof kind === 'string' &&
    (typeof key === 'string' || key === null) &&
    typeof credits === 'number' &&
    typeof balance === 'number' &&
    isObject(body)
  ) {
    return { at, id, user, kind, key, credits, balance, body };
  }
  throw new Error(`the ledger contains an invalid entry: ${JSON.stringify(line).slice(0, 200)}`);
}
