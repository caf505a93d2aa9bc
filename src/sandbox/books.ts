import { createHash } from 'node:crypto';
import type { Journal } from './journal.ts';
import { findKind } from './kinds/index.ts';
import type { SandboxKind } from './kinds/kind.ts';
import { isObject, type Json, type JsonObject, stableJson } from './wire.ts';

/** One accepted create. The truth about money: an entry is written before its answer is sent, and never changed. */
export interface LedgerEntry {
  /** When it was accepted, ISO 8601. */
  readonly at: string;
  /** The job's id. */
  readonly id: string;
  readonly user: string;
  readonly kind: string;
  /** The idempotency key, where one counted. */
  readonly key: string | null;
  readonly credits: number;
  /** The user's balance after it. */
  readonly balance: number;
  /** The request body as it was sent, unknown fields included. */
  readonly body: JsonObject;
}

export interface Job {
  readonly entry: LedgerEntry;
  readonly kind: SandboxKind;
  /** The last part of the job's output path. Cannot be guessed from anything but the job's id. */
  readonly token: string;
  /** Everything that is drawn by lot about the job, is drawn from this digest of its body and take. */
  readonly seed: string;
  /** 1 for a user's first job with this body, 2 for the second, … */
  readonly take: number;
}

/** Jobs, balances and answers to replay: a fold of the ledger and the deletions, kept as they grow. */
export class Books {
  readonly entries: LedgerEntry[] = [];
  private readonly startingCredits: number;
  private readonly journal: Journal | undefined;
  private readonly balances = new Map<string, number>();
  private readonly jobs = new Map<string, Job>();
  private readonly idsByToken = new Map<string, string>();
  private readonly jobsByKey = new Map<string, Job>();
  private readonly timesByKey = new Map<string, number>();
  private readonly takes = new Map<string, number>();

  constructor(startingCredits: number, journal?: Journal) {
    this.startingCredits = startingCredits;
    this.journal = journal;
    for (const line of journal?.ledger ?? []) this.take(readEntry(line));
    for (const line of journal?.deleted ?? []) this.forget(String(line.id));
  }

  balance(user: string): number {
    return this.balances.get(user) ?? this.startingCredits;
  }

  /** Books a create: on disk first, where there is a disk. Throws when that fails; then nothing is booked. */
  book(user: string, kind: SandboxKind, options: { now: number; key: string | null; body: JsonObject }): Job {
    const { now, key, body } = options;
    const { credits } = kind.settle(body);
    const at = new Date(now).toISOString();
    const id = this.nextId(user, kind, { at, key, body });
    const balance = this.balance(user) - credits;
    const entry: LedgerEntry = { at, id, user, kind: kind.name, key, credits, balance, body };
    this.journal?.appendLedger({ ...entry });
    return this.take(entry);
  }

  /** With a key the id is a function of the purchase, so that two runs of one campaign can be compared byte by byte. */
  private nextId(
    user: string,
    kind: SandboxKind,
    create: { at: string; key: string | null; body: JsonObject },
  ): string {
    const { at, key, body } = create;
    const which =
      key === null
        ? [String(this.entries.length), at, bodyText(body)]
        : [key, String(this.timesByKey.get(JSON.stringify([user, key])) ?? 0)];
    return digest('job', user, kind.name, ...which).slice(0, 24);
  }

  /** The user's job, unless it is of another kind, somebody else's, or deleted. */
  find(user: string, kind: SandboxKind, id: string): Job | undefined {
    const job = this.jobs.get(id);
    return job?.entry.user === user && job.kind === kind ? job : undefined;
  }

  findByToken(token: string): Job | undefined {
    return this.jobs.get(this.idsByToken.get(token) ?? '');
  }

  /** The newest job that was created with this key, deleted or not: its answer is what a replay gives. */
  findByKey(user: string, key: string): Job | undefined {
    return this.jobsByKey.get(JSON.stringify([user, key]));
  }

  delete(job: Job, now: number): void {
    this.journal?.appendDeleted({ at: new Date(now).toISOString(), id: job.entry.id });
    this.forget(job.entry.id);
  }

  private forget(id: string): void {
    this.jobs.delete(id);
  }

  private take(entry: LedgerEntry): Job {
    const kind = findKind(entry.kind);
    if (kind === undefined) throw new Error(`the ledger holds a job of the kind ${entry.kind}, which is not served`);
    const body = bodyText(entry.body);
    const sameBody = JSON.stringify([entry.user, entry.kind, body]);
    const take = (this.takes.get(sameBody) ?? 0) + 1;
    // The first take is a function of the body alone; later ones differ, as a service's second attempt would.
    const seed = take === 1 ? digest('seed', entry.kind, body) : digest('seed', entry.kind, body, String(take));
    const job: Job = { entry, kind, take, seed, token: digest('token', entry.id).slice(0, 40) };
    this.takes.set(sameBody, take);
    this.entries.push(entry);
    this.balances.set(entry.user, entry.balance);
    this.jobs.set(entry.id, job);
    this.idsByToken.set(job.token, entry.id);
    if (entry.key !== null) {
      const key = JSON.stringify([entry.user, entry.key]);
      this.jobsByKey.set(key, job);
      this.timesByKey.set(key, (this.timesByKey.get(key) ?? 0) + 1);
    }
    return job;
  }
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
  throw new Error(`the ledger holds an entry that is not one: ${JSON.stringify(line).slice(0, 200)}`);
}

function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** A body as text, with links to own outputs without their host: the sandbox may listen on another port tomorrow. */
export function bodyText(body: Json): string {
  return stableJson(body).replace(/https?:\/\/[^/"\s]+(?=\/files\/[0-9a-f]{40}\/)/g, '');
}
