import { createHash } from 'node:crypto';
import {
  type BookedJob,
  BookingService,
  type Fate,
  type IncomingCreate,
  listPaths,
  prices,
  statusPaths,
} from '../../rig/booking-service.ts';

/** A request; of creates, of one job or of a list only a head makes any. */
export interface Asked {
  at: number;
  what: 'create' | 'status' | 'list' | 'other';
  /** Of the process that asked: each may have one of its own, out of 127.0.0.0/8. */
  from: string;
}

/**
 * The service in real time, with books that no process of ours writes. The same words always get the same job id and the
 * same bytes, so that the locks of two runs can be compared to the letter.
 */
export class Judge extends BookingService {
  readonly asked: Asked[] = [];
  /** Every signed link that was handed out. */
  readonly links: string[] = [];
  /** What must not be, as soon as it was: a second spend for one step, a key that was charged twice, more in flight. */
  readonly wrong: string[] = [];
  /** Jobs that were paid for and of whose end nobody was told yet. */
  inFlight = 0;
  mostInFlight = 0;
  cap = Number.POSITIVE_INFINITY;
  readonly #told = new Set<string>();
  readonly #subjects = new Set<string>();
  readonly #keys = new Set<string>();
  #spent = 0;

  constructor() {
    // A connection on which nothing comes is closed, sooner than an answer of a create is given up.
    super({ now: () => Date.now(), others: new Set() }, { headersTimeout: 3000, connectionsCheckingInterval: 250 });
    this.idOf = (kind, _nth, subject) => `${kind}-${createHash('sha256').update(subject).digest('hex').slice(0, 20)}`;
    this.onBooked = (job) => this.#book(job);
    this.onTold = (job, link) => {
      this.links.push(link);
      if (!this.#told.has(job.id)) this.inFlight -= 1;
      this.#told.add(job.id);
    };
    this.onRequest = ({ method, url = '', socket }) => {
      const path = url.replace('/api/v1', '').replace(/\?.*$/s, '');
      const isStatus = Object.keys(statusPaths).some((place) => path.startsWith(`${place}/`));
      const what = method === 'POST' ? 'create' : listPaths[path] ? 'list' : isStatus ? 'status' : 'other';
      this.asked.push({ at: Date.now(), what, from: socket.remoteAddress ?? '' });
    };
  }

  /** All that was ever charged, in credits. */
  get spent(): number {
    return this.#spent;
  }

  /** How many requests of this sort came in, from one process or from all. */
  count(what: Asked['what'], from?: string): number {
    return this.asked.filter((one) => one.what === what && (from === undefined || one.from === from)).length;
  }

  #book({ subject, key, credits, id }: BookedJob): void {
    this.#spent += credits;
    if (this.#subjects.has(subject)) this.wrong.push(`paid twice: ${subject}, now as ${id}`);
    this.#subjects.add(subject);
    if (key !== null && this.#keys.has(key)) this.wrong.push(`the key ${key} was charged twice`);
    if (key !== null) this.#keys.add(key);
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    if (this.inFlight > this.cap) this.wrong.push(`${this.inFlight} in flight, ${this.cap} are allowed`);
  }
}

export const priceOf = (kind: string): number => prices[kind] ?? 1;

/**
 * A share of the answers is lost: after the charge, before it, or by a refusal that passes. Those of films only after it:
 * of two creates that left no trace in a list nobody can say what became of them, and a person is asked.
 */
export function losesAnswers(random: () => number, share: number): (create: IncomingCreate) => Fate {
  const fates: Fate[] = ['lose', 'lose', 'drop', 429, 502];
  return ({ kind }) => {
    if (random() >= share) return 'book';
    return kind === 'video' ? 'lose' : (fates[Math.floor(random() * fates.length)] ?? 'book');
  };
}
