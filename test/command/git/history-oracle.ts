import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { BookedJob, BookingService } from '../../rig/booking-service.ts';
import type { VirtualTime } from '../../rig/virtual-time.ts';
import type { Copy, Tasks } from './working-copy.ts';

const hour = 3_600_000;
const replayed = ['image', 'music'];

/**
 * What the lock of a working copy must know, whatever its form is: a file beside it, of the same shape (a line for each
 * step, in the same order, joined by `merge=union`), in which each run notes what was booked while it ran. Whatever git
 * does to the one it does to the other.
 */
class Knowledge {
  readonly #copy: Copy;
  readonly #service: BookingService;
  readonly #slots: readonly string[];

  constructor(copy: Copy, service: BookingService, slots: readonly string[]) {
    this.#copy = copy;
    this.#service = service;
    this.#slots = [...slots].sort();
    if (!existsSync(this.#path)) this.#write(new Map());
  }

  get #path(): string {
    return join(this.#copy.folder, 'knowledge.txt');
  }

  /** Bookings that were made by runs whose traces are in this working copy. */
  known(): BookedJob[] {
    const ids = new Set([...this.#read().values()].flatMap((own) => [...own]));
    return this.#service.ledger.filter(({ id }) => ids.has(id));
  }

  note(slotOf: (job: BookedJob) => string, jobs: readonly BookedJob[]): void {
    const known = this.#read();
    for (const job of jobs) {
      const slot = slotOf(job);
      known.set(slot, new Set([...(known.get(slot) ?? []), job.id]));
    }
    this.#write(known);
  }

  #read(): Map<string, Set<string>> {
    const known = new Map<string, Set<string>>();
    const text = existsSync(this.#path) ? readFileSync(this.#path, 'utf8') : '';
    for (const line of text.split('\n')) {
      const [slot = '', ...ids] = line.split(' ');
      if (this.#slots.includes(slot)) known.set(slot, new Set([...(known.get(slot) ?? []), ...ids]));
    }
    return known;
  }

  /** With lines between them that never change, so that a line is joined by itself. */
  #write(known: ReadonlyMap<string, ReadonlySet<string>>): void {
    const between = ['-', '-', '-', '-'];
    const lines = this.#slots.flatMap((slot) => [[slot, ...[...(known.get(slot) ?? [])].sort()].join(' '), ...between]);
    writeFileSync(this.#path, `${lines.join('\n')}\n`);
  }
}

/**
 * Judges every run of a history by the service's books, and by what the lock must have known before the run; of how a lock
 * is made it knows nothing.
 */
export class HistoryOracle {
  readonly #copy: Copy;
  readonly #service: BookingService;
  readonly #time: VirtualTime;
  readonly #knowledge: Knowledge;
  readonly #slotOf: (job: BookedJob) => string;
  /** What was paid for although it was known, by what it is for; and how often somebody had asked for just that. */
  readonly #wrong = new Map<string, string[]>();
  readonly #asked = new Map<string, number>();
  /** What somebody has bought again, whatever had become of it: it stays held, and nobody asks. */
  readonly writtenOff = new Set<string>();
  /** When the service first saw a create of it. */
  readonly #firstSeen = new Map<string, number>();

  constructor(
    copy: Copy,
    given: { service: BookingService; time: VirtualTime; slots: readonly string[]; slotOf(job: BookedJob): string },
  ) {
    this.#copy = copy;
    this.#service = given.service;
    this.#time = given.time;
    this.#slotOf = given.slotOf;
    this.#knowledge = new Knowledge(copy, given.service, given.slots);
  }

  known(): BookedJob[] {
    return this.#knowledge.known();
  }

  /** Ids of booked jobs are in the lock, or their creates are open there. */
  isOnRecord({ id }: BookedJob): boolean {
    return this.#copy.lock.includes(`"${id}"`);
  }

  /** Somebody wants it once more, whatever there is. */
  ask(subject: string, times = 1): void {
    this.#asked.set(subject, (this.#asked.get(subject) ?? 0) + times);
  }

  /** Every booking of a run is compared with what was known before it. `act` is named when one is wrong. */
  async watch<T>(act: string, run: () => Promise<T>): Promise<T> {
    const { ledger, creates } = this.#service;
    const bookedBefore = ledger.length;
    const known = this.known();
    const open = known.filter((job) => this.#isOpenPost(job));
    const ran = await run();
    for (const { subject } of creates) {
      if (!this.#firstSeen.has(subject)) this.#firstSeen.set(subject, this.#time.now());
    }
    const { budget = Number.POSITIVE_INFINITY } = this.#copy;
    for (const job of ledger.slice(bookedBefore)) {
      const because = this.#whyWrong(job, known);
      const all = this.#wrong.get(job.subject) ?? [];
      if (because !== undefined) this.#wrong.set(job.subject, [...all, `${job.id}, ${act}: ${because}`]);
      known.push(job);
      const beside = open.filter((other) => accountsOf(other).some((account) => accountsOf(job).includes(account)));
      expect(beside, `${job.id} left beside a post of which nobody knows, ${act}`).toEqual([]);
      if (this.#isOpenPost(job)) open.push(job);
      // Branches may have passed it together; what is free may still go.
      if (job.credits > 0) expect(creditsOf(known), `the budget was passed, ${act}`).toBeLessThanOrEqual(budget);
    }
    this.#knowledge.note(this.#slotOf, ledger.slice(bookedBefore));
    return ran;
  }

  /** Paid for although it was known, oftener than somebody had asked for. */
  findWrong(): string[] {
    return [...this.#wrong].flatMap(([subject, all]) =>
      all.length > (this.#asked.get(subject) ?? 0) ? all.map((one) => `${subject}: ${one}`) : [],
    );
  }

  /** Every charge that this lock must know is spent there, or held. */
  async checkMoney(act: string): Promise<void> {
    const { spent, held } = await this.#copy.credits();
    const booked = creditsOf(this.known());
    expect(spent + held, `spent ${spent} and held ${held}, ${act}`).toBeGreaterThanOrEqual(booked);
  }

  #isOpenPost(job: BookedJob): boolean {
    return job.kind === 'post' && !this.isOnRecord(job) && !this.writtenOff.has(this.#slotOf(job));
  }

  #whyWrong(job: BookedJob, known: readonly BookedJob[]): string | undefined {
    if (known.some(({ subject }) => subject === job.subject)) return 'it was known';
    const sinceFirst = job.at - (this.#firstSeen.get(job.subject) ?? job.at);
    // Keys are a function of what is bought: whoever knows nothing of the other gets the same job, for a day.
    const isKept = job.key !== null && replayed.includes(job.kind) && sinceFirst < 23 * hour;
    const isSame = (other: BookedJob) =>
      other !== job && other.subject === job.subject && other.account === job.account && other.key !== null;
    const before = this.#service.ledger.slice(0, this.#service.ledger.indexOf(job));
    return isKept && before.some(isSame) ? 'the same account had paid for it within a day' : undefined;
  }
}

function accountsOf({ body }: BookedJob): readonly unknown[] {
  return Array.isArray(body.accountIds) ? body.accountIds : [];
}

function creditsOf(jobs: readonly BookedJob[]): number {
  return jobs.reduce((sum, { credits }) => sum + credits, 0);
}

/** Somebody who looks at the accounts, and says what is true of every post that waits. */
export class PostPerson {
  readonly #copy: Copy;
  readonly #service: BookingService;
  readonly #oracle: HistoryOracle;
  readonly #posts: readonly Slot[];

  constructor(copy: Copy, given: { service: BookingService; oracle: HistoryOracle; posts: readonly Slot[] }) {
    this.#copy = copy;
    this.#service = given.service;
    this.#oracle = given.oracle;
    this.#posts = given.posts;
  }

  async decide(act: string): Promise<void> {
    for (const post of this.#posts) for (const name of post.names) await this.#resolve(post, name);
    if (this.#posts.length === 0) return;
    for (const { address, beside } of await this.#copy.plan()) {
      const post = this.#posts.find(({ names }) => names.includes(address));
      if (beside === undefined || post === undefined || (await this.#move(post, beside.address))) continue;
      await this.#oracle.watch(act, () => this.#copy.apply('--redo', address, '--publish'));
    }
  }

  /** Those of its creates that nobody knows about. */
  async #resolve(post: Slot, name: string): Promise<void> {
    for (let code = 0; code === 0; ) {
      // Those that this branch has sent come first.
      const out = [...this.#oracle.known(), ...this.#service.ledger].filter((job) => slotOf(job) === post.id);
      const lost = out.find((job) => !this.#oracle.isOnRecord(job));
      const truth = lost === undefined ? ['--not-spent'] : ['--job', lost.id, '--credits', '0'];
      code = (await this.#copy.resolve(name, ...truth)).code;
    }
  }

  /** True: it is out, and has its name back. */
  async #move(post: Slot, beside: string): Promise<boolean> {
    if (!this.#oracle.known().some((job) => slotOf(job) === post.id)) return false;
    const names = post.names.slice(0, -1).sort((a, b) => Number(b === beside) - Number(a === beside));
    for (const name of names) {
      if ((await this.#copy.run('move', this.#copy.manifest, name, nameOf(post))).code === 0) return true;
    }
    return false;
  }
}

/** The words of a video that everybody has from the start. */
export const firstWords = 'first words';

/** What is wanted once, whatever it is called and says now. */
export interface Slot {
  /** Its kind; of a post, what it is about. */
  readonly id: string;
  readonly kind: string;
  /** Of a post: where it goes. */
  readonly accountIds?: readonly string[];
  /** The task's names; the last is the one that it has now. */
  names: string[];
  says: string;
  isThere: boolean;
}

export const words = ['a lamp', 'a vase'] as const;

export function makeSlot(kind: string, name: string): Slot {
  return { id: kind, kind, names: [name], says: words[0], isThere: true };
}

/** Both go to one account, and the second to another one, too. */
export function makePosts(): Slot[] {
  return Object.entries({ launch: ['acc_shop'], offer: ['acc_shop', 'acc_team'] }).map(([id, accountIds]) => ({
    ...makeSlot('post', id),
    id,
    accountIds,
  }));
}

export function nameOf({ names }: Slot): string {
  return names.at(-1) ?? '';
}

/** What the service calls it. */
export function subjectOf({ id, kind, says }: Slot): string {
  return `${kind} ${kind === 'post' ? id : says}`;
}

/** What the service may call it, whatever it says. */
export function subjectsOf(slot: Slot): string[] {
  return [...new Set(words.map((says) => subjectOf({ ...slot, says })))];
}

export function slotOf({ subject, kind }: BookedJob): string {
  if (kind === 'post') return subject.replace('post ', '');
  return subject === `video ${firstWords}` ? 'first' : kind;
}

export function tasksOf(slots: readonly Slot[]): Tasks {
  const tasks: Tasks = { first: { kind: 'video', says: firstWords } };
  for (const slot of slots.filter(({ isThere }) => isThere)) {
    const { id, kind, says, accountIds } = slot;
    const more = accountIds && { with: { accountIds, caption: `${id}: ${says}` } };
    tasks[nameOf(slot)] = { kind, says, ...(more && { more }) };
  }
  return tasks;
}
