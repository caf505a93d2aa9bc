import type { Manners } from './manners.ts';

export type Body = { readonly [field: string]: unknown };

/** One accepted create, booked before it is answered. */
export interface Booked {
  id: string;
  recordId: string;
  kind: string;
  user: string;
  key: string | null;
  /** As it arrived. */
  text: string;
  body: Body;
  credits: number;
  at: Date;
  /** Calls of its status so far: QUEUED at the first, COMPLETED from the second on. */
  looks: number;
  isRemoved: boolean;
}

export const prices: Readonly<Record<string, number>> = {
  image: 3,
  music: 5,
  video: 12,
  voiceover: 2,
  clipping: 7,
  thumbnail: 4,
  influencer: 9,
  post: 0,
};

/** What the service has on record, newest last; read by the tests, and by nothing that the runner could see. */
export class Books {
  readonly jobs: Booked[] = [];
  readonly assets: {
    id: string;
    user: string;
    name: string;
    path: string;
    type: string;
    bytes: number;
    from: string;
  }[] = [];
  balance: number;
  /** So much dearer is each job than the one before. */
  rise = 0;
  readonly #manners: Manners;

  constructor(manners: Manners, balance: number) {
    this.#manners = manners;
    this.balance = balance;
  }

  book(given: Pick<Booked, 'kind' | 'user' | 'key' | 'text' | 'body'>): Booked {
    const nth = this.jobs.length + 1;
    const { kind, body } = given;
    const id = this.#manners.ids(kind, nth);
    const price = kind === 'music' && body.model === 'song-7.5' ? 4 : (prices[kind] ?? 0);
    const credits = price + this.rise * this.jobs.length;
    const recordId = kind === 'thumbnail' ? this.#manners.ids('record', nth) : id;
    const job = { ...given, id, recordId, credits, at: new Date(), looks: 0, isRemoved: false };
    this.jobs.push(job);
    this.balance -= credits;
    return job;
  }

  byKey(user: string, key: string): Booked | undefined {
    return this.jobs.find((job) => job.user === user && job.key === key);
  }

  /** `by`: the id that a thumbnail goes by here; all other kinds have one. */
  find(user: string, kinds: readonly string[], { id, by }: { id: string; by: 'record' | 'job' }): Booked | undefined {
    const idOf = (job: Booked) => (by === 'record' ? job.recordId : job.id);
    return this.jobs.find((job) => job.user === user && !job.isRemoved && kinds.includes(job.kind) && idOf(job) === id);
  }

  /** Newest first. */
  list(user: string, kind: string): Booked[] {
    return this.jobs.filter((job) => job.user === user && job.kind === kind && !job.isRemoved).reverse();
  }
}
