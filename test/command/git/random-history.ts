import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { BookedJob, BookingService, Fate } from '../../rig/booking-service.ts';
import { seeded } from '../../rig/random.ts';
import {
  HistoryOracle,
  makePosts,
  makeSlot,
  nameOf,
  PostPerson,
  type Slot,
  slotOf,
  subjectOf,
  subjectsOf,
  tasksOf,
  words,
} from './history-oracle.ts';
import { makeStudio, type Studio } from './studio.ts';
import { type Copy, keys, type Ran } from './working-copy.ts';

const hour = 3_600_000;
const tracked = ['campaign.lock.jsonl', 'knowledge.txt'];

/**
 * One team's work at random: branches, merges, edits, decisions, other keys, wrong clocks and everything that may befall a
 * run. The oracle knows the service's books, and what each lock must know, and nothing of how a lock is made.
 */
export class RandomHistory {
  readonly told: string[] = [];
  readonly #random: () => number;
  readonly #slots: Slot[];
  readonly #studio: Studio;
  readonly #copy: Copy;
  readonly #oracle: HistoryOracle;
  readonly #person: PostPerson;
  #branches = 2;

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
    const posts = this.#random() < 0.6 ? makePosts() : [];
    this.#slots = [...kinds.map((kind, index) => makeSlot(kind, ['hero', 'other'][index] ?? '')), ...posts];
    if (this.#random() < 0.4) copy.budget = this.#pick([12, 20, 30]) + 10;
    studio.service.replaysRefusals = this.#random() < 0.5;
    studio.service.refusesBeforeReplay = this.#random() < 0.3;
    studio.service.jobMs = this.#pick([0, 0, 20_000]);
    const { service, time } = studio;
    this.#oracle = new HistoryOracle(copy, {
      service,
      time,
      slots: ['first', ...this.#slots.map(({ id }) => id)],
      slotOf,
    });
    this.#person = new PostPerson(copy, { service, oracle: this.#oracle, posts });
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
    this.#copy.git('branch', 'branch-1');
  }

  async act(): Promise<void> {
    const acts: [weight: number, name: string, act: () => Promise<void> | void][] = [
      [8, 'work on two branches', () => this.#workOnTwoBranches()],
      [6, 'work', () => this.#work()],
      [3, 'merge', () => this.#merge()],
      [1, 'branch', () => this.#branch()],
      [2, 'switch', () => this.#switch()],
      [2, 'cherry-pick', () => this.#gitAct((other) => this.#copy.tryGit('cherry-pick', '--no-commit', other))],
      [1, 'revert', () => this.#gitAct(() => this.#copy.tryGit('revert', '--no-commit', 'HEAD'))],
      [1, 'old lock', () => this.#gitAct(() => this.#copy.tryGit('checkout', '--quiet', 'HEAD~1', '--', ...tracked))],
      [2, 'another key', () => this.#changeKey()],
      [2, 'time passes', () => this.#studio.time.pass(this.#pick([1, 5, 25, 48]) * hour)],
      [1, 'the clock is set', () => this.#setClock()],
      [2, 'lists lie', () => this.#makeListsLie()],
      [2, 'prices rise', () => this.#runAtRisenPrices()],
    ];
    await this.#choose(acts);
    await this.#oracle.checkMoney(this.#act);
  }

  /** What somebody does between two commits. */
  async #work(): Promise<void> {
    await this.#choose([
      [3, 'apply', async () => void (await this.#run(this.#consent()))],
      [5, 'apply, answers lost', () => this.#runUnanswered()],
      [4, 'apply, power cut', () => this.#runUntilPowerCut()],
      [5, 'apply, trouble', () => this.#runWithTrouble()],
      [1, 'redo', () => this.#redo()],
      [3, 'edit', () => this.#edit((slot) => Object.assign(slot, { says: words.find((says) => says !== slot.says) }))],
      [1, 'rename', () => this.#edit((slot) => slot.names.push(nameOf(slot) === 'new' ? 'hero' : 'new'), 0)],
      [this.#hasPosts ? 7 : 0, 'rename a post', () => this.#renamePost()],
      [this.#hasPosts ? 3 : 0, 'look at the accounts', () => this.#person.decide(this.#act)],
      [2, 'remove or bring back', () => this.#edit((slot) => Object.assign(slot, { isThere: !slot.isThere }))],
      [2, 'forget', () => this.#forget()],
      [4, 'resolve', () => this.#resolve()],
    ]);
  }

  async #choose(acts: readonly [weight: number, name: string, act: () => Promise<void> | void][]): Promise<void> {
    let left = this.#random() * acts.reduce((sum, [weight]) => sum + weight, 0);
    const chosen = acts.find(([weight]) => {
      left -= weight;
      return left < 0;
    });
    if (chosen === undefined) return;
    this.told.push(chosen[1]);
    await chosen[2]();
  }

  async #workOnTwoBranches(): Promise<void> {
    await this.#work();
    this.#switch();
    await this.#work();
    this.#merge();
  }

  #merge(): void {
    this.#gitAct((other) => this.#copy.tryGit('merge', '--quiet', '--no-edit', other));
  }

  /** Everybody's creates are asked for, until nothing changes any more; then nothing is unaccounted for. */
  async end(): Promise<void> {
    this.told.push('end');
    this.#studio.time.skewMs = 0;
    for (const slot of this.#slots) slot.isThere = true;
    this.#writeTasks();
    this.#copy.key = keys.rival;
    await this.#run(['--publish']);
    this.#copy.key = keys.acme;
    let ran = await this.#run(['--publish']);
    let before: { code: number; booked: number };
    do {
      before = { code: ran.code, booked: this.#service.ledger.length };
      await this.#person.decide(this.#act);
      ran = await this.#run(['--publish']);
    } while (before.code !== ran.code || before.booked !== this.#service.ledger.length);
    expect([0, 3, 4, 6], ran.err).toContain(ran.code);
    const isMissing = (job: BookedJob) => !this.#oracle.isOnRecord(job) && !this.#oracle.writtenOff.has(slotOf(job));
    const missing = this.#oracle.known().filter(isMissing);
    if (missing.length > 0) expect(ran.code, JSON.stringify(missing)).toBe(6);
    await this.#oracle.checkMoney(this.#act);
    expect(this.#oracle.findWrong()).toEqual([]);
    expect(this.#service.violations).toEqual([]);
    const out = this.#service.ledger.map(slotOf);
    const isWanted = ({ id, kind }: Slot) => kind === 'post' && ran.code === 0 && !out.includes(id);
    expect(this.#slots.filter(isWanted), ran.err).toEqual([]);
  }

  get #act(): string {
    return `act ${this.told.length}`;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }

  #writeTasks(): void {
    this.#copy.tasks(tasksOf(this.#slots));
  }

  #run(args: string[]): Promise<Ran> {
    return this.#oracle.watch(this.#act, () => this.#copy.apply(...args));
  }

  get #hasPosts(): boolean {
    return this.#slots.some(({ kind }) => kind === 'post');
  }

  /** Posts may go out, in most runs. */
  #consent(): string[] {
    return this.#hasPosts && this.#random() < 0.8 ? ['--publish'] : [];
  }

  /** And most say something else: nothing tells that it is the same. */
  async #renamePost(): Promise<void> {
    const post = this.#pick(this.#slots.filter(({ kind }) => kind === 'post')) as Slot;
    post.names.push(`${post.id}${post.names.length}`);
    post.says = this.#pick([...words, 'a chair']);
    this.#writeTasks();
    if (this.#random() < 0.5) await this.#run(this.#consent());
  }

  async #runUnanswered(): Promise<void> {
    await this.#oracle.watch(this.#act, () =>
      this.#copy.applyUnanswered(subjectOf(this.#pick(this.#slots)), ...this.#consent()),
    );
  }

  async #runUntilPowerCut(): Promise<void> {
    await this.#oracle.watch(this.#act, () =>
      this.#copy.applyUntilPowerCut(subjectOf(this.#pick(this.#slots)), ...this.#consent()),
    );
  }

  async #runWithTrouble(): Promise<void> {
    const fates: (Fate | 'Ctrl-C' | 'closed')[] = [
      400,
      402,
      409,
      429,
      502,
      'drop',
      'lose',
      'hang',
      'page',
      'nameless',
      'Ctrl-C',
      'closed',
    ];
    const trouble = this.#pick(fates);
    this.told.push(`(${trouble})`);
    const service = this.#service;
    if (trouble === 'closed') await service.close();
    else if (trouble === 'Ctrl-C') service.onBooked = () => this.#studio.interrupt();
    else {
      const isOfPosts = this.#hasPosts && this.#random() < 0.5;
      const hits = (nth: number) => this.#random() < 0.7 || nth % 2 === 0;
      service.fate = ({ nth, kind }) => ((isOfPosts ? kind === 'post' : true) && hits(nth) ? trouble : 'book');
    }
    await this.#run(this.#consent());
    if (trouble === 'closed') await service.open();
    Object.assign(service, { fate: () => 'book', onBooked: () => {} });
  }

  async #redo(): Promise<void> {
    const slot = this.#pick(this.#slots.filter(({ isThere }) => isThere));
    if (slot === undefined) return;
    this.#oracle.ask(subjectOf(slot));
    await this.#run(['--redo', nameOf(slot), ...this.#consent()]);
  }

  #edit(change: (slot: Slot) => unknown, at?: number): void {
    change(at === undefined ? this.#pick(this.#slots) : (this.#slots[at] as Slot));
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
    return this.#pick(['main', 'branch-1', 'branch-2'].slice(0, this.#branches).filter((name) => name !== current));
  }

  #gitAct(act: (other: string) => void): void {
    this.#save();
    act(this.#otherBranch());
    this.#save();
  }

  #save(): void {
    this.#copy.commit(this.#act);
    rmSync(join(this.#copy.folder, '.git', 'CHERRY_PICK_HEAD'), { force: true });
  }

  /** Whatever was bought there may be bought once more. */
  async #forget(): Promise<void> {
    const slot = this.#pick(this.#slots);
    const { code } = await this.#copy.run('forget', this.#copy.manifest, nameOf(slot));
    const isBought = this.#oracle.known().some((job) => slotOf(job) === slot.id);
    // Nothing is out any more that a post of another name could be.
    const times = slot.kind === 'post' ? Number.POSITIVE_INFINITY : 1;
    if (code === 0 && isBought) for (const subject of subjectsOf(slot)) this.#oracle.ask(subject, times);
  }

  /** A person who has looked it up says what is true; or wants it whatever was. */
  async #resolve(): Promise<void> {
    const slot = this.#pick(this.#slots);
    const own = this.#oracle.known().filter((job) => slotOf(job) === slot.id);
    const isUnknown = (job: BookedJob) => !this.#oracle.isOnRecord(job);
    const lost = own.find(isUnknown);
    if (this.#random() < 0.2) {
      const { code } = await this.#copy.resolve(nameOf(slot), '--spend-again');
      if (code === 0) this.#oracle.writtenOff.add(slot.id);
      if (code === 0) for (const subject of subjectsOf(slot)) this.#oracle.ask(subject);
    } else if (lost !== undefined) {
      await this.#copy.resolve(nameOf(slot), '--job', lost.id, '--credits', String(lost.credits));
    } else if (!this.#service.ledger.some((job) => slotOf(job) === slot.id && isUnknown(job))) {
      await this.#copy.resolve(nameOf(slot), '--not-spent');
    }
  }

  #setClock(): void {
    this.#studio.time.skewMs = this.#pick([0, 0, 26, -26, 5]) * hour;
  }

  /** What a list says of a charge is believed upwards only. */
  #makeListsLie(): void {
    const says = this.#pick(['nothing', 0, 1, 999]);
    this.told.push(`(${says})`);
    this.#service.listedCredits = () => (typeof says === 'number' ? says : undefined);
  }

  /** Charges that are answered are on record, whatever the manifest says of prices. */
  async #runAtRisenPrices(): Promise<void> {
    if (this.#copy.budget !== undefined) return;
    this.#service.dearness = this.#pick([2, 3, 10]);
    await this.#run([]);
    this.#service.dearness = 1;
  }

  #changeKey(): void {
    this.#copy.key = this.#pick([keys.acme, keys.rival, keys.acmeToken, keys.acmeNew]);
  }
}
