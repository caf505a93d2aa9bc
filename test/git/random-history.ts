import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { BookedJob, BookingService, Fate } from '../rig/booking-service.ts';
import { seeded } from '../rig/random.ts';
import { Knowledge } from './ledger-of-knowledge.ts';
import { makeStudio, type Studio } from './studio.ts';
import { type Copy, keys, type Ran, type Tasks } from './working-copy.ts';

const hour = 3_600_000;
const tracked = ['campaign.lock.jsonl', 'knowledge.txt'];
const replayed = ['image', 'music'];

interface Slot {
  /** The task's name now. */
  name: string;
  kind: string;
  says: string;
  isThere: boolean;
}

/**
 * One team's work at random: branches, merges, edits, decisions, other keys, wrong clocks and everything that may befall a
 * run. The oracle knows the service's books, and what each lock must know, and nothing of how a lock is made.
 */
export class RandomHistory {
  readonly told: string[] = [];
  /** What was paid for although it was known, by what it is for, and how often somebody had asked for just that. */
  readonly #wrong = new Map<string, string[]>();
  readonly #asked = new Map<string, number>();
  readonly #random: () => number;
  readonly #slots: Slot[];
  readonly #studio: Studio;
  readonly #copy: Copy;
  readonly #knowledge: Knowledge;
  /** When the service first saw a create of it. */
  readonly #firstSeen = new Map<string, number>();
  #branches = 1;

  static async make(seed: number): Promise<RandomHistory> {
    const studio = await makeStudio();
    return new RandomHistory(seed, studio, studio.copy());
  }

  private constructor(seed: number, studio: Studio, copy: Copy) {
    this.#random = seeded(seed);
    this.#studio = studio;
    this.#copy = copy;
    const kinds = this.#pick([
      ['image', 'video'],
      ['image', 'influencer'],
      ['video', 'music'],
      ['image', 'music'],
    ]);
    this.#slots = kinds.map((kind, index) => ({
      name: ['hero', 'other'][index] ?? '',
      kind,
      says: 'a lamp',
      isThere: true,
    }));
    if (this.#random() < 0.4) copy.budget = this.#pick([12, 20, 30]) + 10;
    studio.service.replaysRefusals = this.#random() < 0.5;
    studio.service.refusesBeforeReplay = this.#random() < 0.3;
    this.#knowledge = new Knowledge(copy, studio.service, ['first', ...kinds]);
  }

  get #service(): BookingService {
    return this.#studio.service;
  }

  /** A first video shows what its list gives back; and so there is a lock before any branch. */
  async begin(): Promise<void> {
    appendFileSync(join(this.#copy.folder, '.gitattributes'), 'knowledge.txt merge=union\n');
    appendFileSync(join(this.#copy.folder, '.gitignore'), 'campaign.yaml\n');
    this.#writeTasks();
    await this.#run(['-s', 'first']);
    this.#copy.commit('first');
  }

  async act(): Promise<void> {
    const acts: [weight: number, name: string, act: () => Promise<void> | void][] = [
      [5, 'apply', () => this.#run([])],
      [4, 'apply, answers lost', () => this.#runUnanswered()],
      [3, 'apply, power cut', () => this.#runUntilPowerCut()],
      [4, 'apply, trouble', () => this.#runWithTrouble()],
      [2, 'redo', () => this.#redo()],
      [3, 'edit', () => this.#edit((slot) => (slot.says = slot.says === 'a lamp' ? 'a vase' : 'a lamp'))],
      [
        1,
        'rename',
        () => this.#edit((slot) => (slot.name = slot.name.endsWith('2') ? slot.name.slice(0, -1) : `${slot.name}2`)),
      ],
      [2, 'remove or bring back', () => this.#edit((slot) => (slot.isThere = !slot.isThere))],
      [4, 'branch', () => this.#branch()],
      [4, 'switch', () => this.#switch()],
      [5, 'merge', () => this.#gitAct((other) => this.#copy.tryGit('merge', '--quiet', '--no-edit', other))],
      [2, 'cherry-pick', () => this.#gitAct((other) => this.#copy.tryGit('cherry-pick', '--no-commit', other))],
      [1, 'revert', () => this.#gitAct(() => this.#copy.tryGit('revert', '--no-commit', 'HEAD'))],
      [1, 'old lock', () => this.#gitAct(() => this.#copy.tryGit('checkout', '--quiet', 'HEAD~1', '--', ...tracked))],
      [2, 'forget', () => this.#forget()],
      [3, 'resolve', () => this.#resolve()],
      [1, 'another key', () => this.#changeKey()],
      [2, 'time passes', () => this.#studio.time.pass(this.#pick([1, 5, 25, 48]) * hour)],
      [1, 'the clock is set', () => this.#setClock()],
    ];
    let left = this.#random() * acts.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, name, act] of acts) {
      left -= weight;
      if (left >= 0) continue;
      this.told.push(name);
      await act();
      await this.#checkMoney();
      return;
    }
  }

  /** Everybody's creates are asked for; afterwards nothing is unaccounted for, and nothing more is paid. */
  async end(): Promise<void> {
    this.told.push('end');
    this.#studio.time.skewMs = 0;
    for (const slot of this.#slots) slot.isThere = true;
    this.#writeTasks();
    this.#copy.key = keys.rival;
    await this.#run([]);
    this.#copy.key = keys.acme;
    let ran = await this.#run([]);
    for (let tries = 1; ran.code !== 0 && tries < 8; tries += 1) ran = await this.#run([]);
    const bookedThen = this.#service.ledger.length;
    const again = await this.#run([]);
    expect(this.#service.ledger, again.err).toHaveLength(bookedThen);
    expect([0, 4, 6], again.err).toContain(again.code);
    const unaccounted = this.#knowledge.known().filter(({ id }) => !this.#copy.lock.includes(`"${id}"`));
    if (unaccounted.length > 0) expect(again.code, JSON.stringify(unaccounted)).toBe(6);
    await this.#checkMoney();
    const wrong = [...this.#wrong].filter(([subject, all]) => all.length > (this.#asked.get(subject) ?? 0));
    expect(wrong.map(([, all]) => all)).toEqual([]);
    expect(this.#service.violations).toEqual([]);
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }

  #writeTasks(): void {
    const tasks: Tasks = { first: { kind: 'video', says: 'first words' } };
    for (const { name, kind, says, isThere } of this.#slots) if (isThere) tasks[name] = { kind, says };
    this.#copy.tasks(tasks);
  }

  /** Every booking of a run is compared with what was known before it. */
  async #watch<T>(run: () => Promise<T>): Promise<T> {
    const { ledger, creates } = this.#service;
    const bookedBefore = ledger.length;
    const known = this.#knowledge.known();
    const ran = await run();
    for (const { subject } of creates) {
      if (!this.#firstSeen.has(subject)) this.#firstSeen.set(subject, this.#studio.time.now());
    }
    for (const job of ledger.slice(bookedBefore)) {
      const others = ledger.slice(0, ledger.indexOf(job)).filter(({ subject }) => subject === job.subject);
      const because = known.some(({ subject }) => subject === job.subject)
        ? 'was known'
        : others.some((other) => this.#hasSameKey(other, job))
          ? 'was paid for by the same account within a day'
          : undefined;
      if (because !== undefined) {
        const all = this.#wrong.get(job.subject) ?? [];
        this.#wrong.set(job.subject, [...all, `${job.subject} (${job.id}) ${because}, at act ${this.told.length}`]);
      }
      known.push(job);
      const spent = known.reduce((sum, { credits }) => sum + credits, 0);
      const { budget = Number.POSITIVE_INFINITY } = this.#copy;
      expect(spent, `the budget was passed at act ${this.told.length}`).toBeLessThanOrEqual(budget);
    }
    this.#knowledge.note(
      (job) => (job.subject === 'video first words' ? 'first' : job.kind),
      ledger.slice(bookedBefore),
    );
    return ran;
  }

  /** The keys are a function of what is bought: whoever knows nothing of the other gets the same job, for a day. */
  #hasSameKey(other: BookedJob, job: BookedJob): boolean {
    const sinceFirst = job.at - (this.#firstSeen.get(job.subject) ?? job.at);
    const areKeyed = other.key !== null && job.key !== null && replayed.includes(job.kind);
    return areKeyed && other.account === job.account && sinceFirst < 23 * hour;
  }

  #run(args: string[]): Promise<Ran> {
    return this.#watch(() => this.#copy.apply(...args));
  }

  async #runUnanswered(): Promise<void> {
    await this.#watch(() => this.#copy.applyUnanswered(this.#subjectOf(this.#pick(this.#slots))));
  }

  async #runUntilPowerCut(): Promise<void> {
    await this.#watch(() => this.#copy.applyUntilPowerCut(this.#subjectOf(this.#pick(this.#slots))));
  }

  async #runWithTrouble(): Promise<void> {
    const fates: (Fate | 'Ctrl-C' | 'closed')[] = [400, 402, 429, 502, 'drop', 'lose', 'hang', 'Ctrl-C', 'closed'];
    const trouble = this.#pick(fates);
    this.told.push(`(${trouble})`);
    const service = this.#service;
    if (trouble === 'closed') await service.close();
    else if (trouble === 'Ctrl-C') service.onBooked = () => this.#studio.interrupt();
    else service.fate = ({ nth }) => (this.#random() < 0.7 || nth % 2 === 0 ? trouble : 'book');
    await this.#run([]);
    if (trouble === 'closed') await service.open();
    Object.assign(service, { fate: () => 'book', onBooked: () => {} });
  }

  async #redo(): Promise<void> {
    const slot = this.#pick(this.#slots.filter(({ isThere }) => isThere));
    if (slot === undefined) return;
    this.#ask(this.#subjectOf(slot));
    await this.#run(['--redo', slot.name]);
  }

  #edit(change: (slot: Slot) => unknown): void {
    change(this.#pick(this.#slots));
    this.#writeTasks();
  }

  #branch(): void {
    if (this.#branches >= 3) {
      this.#switch();
      return;
    }
    this.#save();
    this.#copy.branch(`branch-${this.#branches}`);
    this.#branches += 1;
  }

  #switch(): void {
    this.#save();
    this.#copy.git('checkout', '--quiet', this.#otherBranch());
  }

  #otherBranch(): string {
    const current = this.#copy.git('branch', '--show-current').trim();
    const all = ['main', 'branch-1', 'branch-2'].slice(0, this.#branches).filter((name) => name !== current);
    return all.length === 0 ? 'main' : this.#pick(all);
  }

  #gitAct(act: (other: string) => void): void {
    this.#save();
    act(this.#otherBranch());
    this.#save();
  }

  #save(): void {
    this.#copy.commit(`act ${this.told.length}`);
    rmSync(join(this.#copy.folder, '.git', 'CHERRY_PICK_HEAD'), { force: true });
  }

  /** Whatever was bought there may be bought once more. */
  async #forget(): Promise<void> {
    const slot = this.#pick(this.#slots);
    const { code } = await this.#copy.run('forget', this.#copy.manifest, slot.name);
    const isBought = this.#knowledge.known().some(({ kind }) => kind === slot.kind);
    if (code === 0 && isBought) for (const says of ['a lamp', 'a vase']) this.#ask(`${slot.kind} ${says}`);
  }

  /** A person who has looked it up says what is true; or wants it whatever was. */
  async #resolve(): Promise<void> {
    const slot = this.#pick(this.#slots);
    const own = this.#knowledge
      .known()
      .filter(({ kind, subject }) => kind === slot.kind && subject !== 'video first words');
    const isUnknown = ({ id }: BookedJob) => !this.#copy.lock.includes(`"${id}"`);
    const lost = own.find(isUnknown);
    if (this.#random() < 0.2) {
      const { code } = await this.#copy.resolve(slot.name, '--spend-again');
      if (code === 0) for (const says of ['a lamp', 'a vase']) this.#ask(`${slot.kind} ${says}`);
    } else if (lost !== undefined) {
      await this.#copy.resolve(slot.name, '--job', lost.id, '--credits', String(lost.credits));
    } else if (!this.#service.ledger.some((job) => job.kind === slot.kind && isUnknown(job))) {
      await this.#copy.resolve(slot.name, '--not-spent');
    }
  }

  #setClock(): void {
    this.#studio.time.skewMs = this.#pick([0, 0, 26, -26, 5]) * hour;
  }

  #changeKey(): void {
    this.#copy.key = this.#pick([keys.acme, keys.rival, keys.acmeToken, keys.acmeNew]);
  }

  #subjectOf({ kind, says }: Slot): string {
    return `${kind} ${says}`;
  }

  #ask(subject: string): void {
    this.#asked.set(subject, (this.#asked.get(subject) ?? 0) + 1);
  }

  /** Every charge that this lock must know is spent, or held. */
  async #checkMoney(): Promise<void> {
    const booked = this.#knowledge.known().reduce((sum, { credits }) => sum + credits, 0);
    const { spent, held } = await this.#copy.credits();
    expect(spent + held, `spent ${spent} and held ${held} after act ${this.told.length}`).toBeGreaterThanOrEqual(
      booked,
    );
  }
}
