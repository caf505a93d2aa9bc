import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { prices } from '../../rig/booking-service.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';
import type { Studio } from './studio.ts';

/** Credentials, of two accounts. */
export const keys = {
  acme: 'mb_live_4f9a1c77d2_acme',
  acmeNew: 'mb_live_93c2e5b0aa_acme',
  /** Signed in by an identity provider: nothing is replayed. */
  acmeToken: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl_acme',
  acmeNextToken: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ5In0.bmV4dHNpZ25l_acme',
  rival: 'mb_live_b1d0e8732c_rival',
};

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export interface PlanRow {
  address: string;
  kind: string;
  action: string;
  reason: { text: string };
  credits: number | null;
  /** A post that is out, and that this one may be. */
  beside?: { address: string };
}

interface Credits {
  spent: number;
  held: number;
  heldUnknown: number;
  budget?: number;
  left?: number;
}

/** A task as a test writes it: of its request only the words matter. */
export interface Task {
  kind: string;
  says: string;
  /** Further keys of the task. */
  more?: { [name: string]: unknown };
}

export interface Tasks {
  [id: string]: Task;
}

/** A working copy: a folder with a campaign, and the commands in it. */
export class Copy {
  readonly folder: string;
  /** The credential of whoever sits here. */
  key: string = keys.acme;
  budget: number | undefined;
  name = 'spring';
  readonly #studio: Studio;
  /** A user of another branch has another machine, whose purchase journal is empty. */
  #isElsewhere = false;

  constructor(studio: Studio, folder: string) {
    this.#studio = studio;
    this.folder = folder;
  }

  get lockPath(): string {
    return join(this.folder, 'campaign.lock.jsonl');
  }

  /** The lock's text; empty without one. */
  get lock(): string {
    return existsSync(this.lockPath) ? readFileSync(this.lockPath, 'utf8') : '';
  }

  /** Writes the manifest. */
  tasks(tasks: Tasks): void {
    const manifest = {
      version: 1,
      name: this.name,
      ...(this.budget !== undefined && { budget: { credits: this.budget } }),
      prices,
      tasks: Object.fromEntries(
        Object.entries(tasks).map(([id, { kind, says, more }]) => [id, { kind, with: requestOf(kind, says), ...more }]),
      ),
    };
    writeFileSync(join(this.folder, 'campaign.yaml'), `${JSON.stringify(manifest, null, 1)}\n`);
  }

  git(...words: string[]): string {
    if (bringsOthers.test(words[0] ?? '')) this.#isElsewhere = true;
    return execFileSync('git', words, { cwd: this.folder, env: gitEnvironment, stdio: 'pipe', encoding: 'utf8' });
  }

  /** Conflicts are left where they are. */
  tryGit(...words: string[]): void {
    try {
      this.git(...words);
    } catch {
      // What git could not do is in the files.
    }
  }

  commit(message = 'work'): void {
    this.git('add', '-A');
    this.git('commit', '--quiet', '--allow-empty', '-m', message);
  }

  branch(name: string, from = 'HEAD'): void {
    this.git('checkout', '--quiet', '-b', name, from);
  }

  /** Joins `other`; a conflict about the manifest ends with ours, the lock is taken as git left it. */
  merge(other: string): void {
    this.tryGit('merge', '--quiet', '--no-edit', other);
    if (!existsSync(join(this.folder, '.git', 'MERGE_HEAD'))) return;
    this.tryGit('checkout', '--ours', '--', 'campaign.yaml');
    this.commit(`merge ${other}`);
  }

  async run(...args: string[]): Promise<Ran> {
    if (this.#isElsewhere) this.#studio.forgetPurchases(this);
    this.#isElsewhere = false;
    return this.#studio.run(this, args);
  }

  async apply(...args: string[]): Promise<Ran> {
    const before = new Set(this.#runs());
    const ran = await this.run('apply', this.manifest, '--yes', ...args);
    // The clock may have been turned back: it is not the latest that is new.
    const run = this.#runs().find((id) => !before.has(id));
    if (/^credits +[\d\u202f]+ spent/m.test(ran.err)) compareNumbers(ran.err, { run, ...(await this.numbers()) });
    return ran;
  }

  /** Ids of the runs that are on record here. */
  #runs(): string[] {
    const folder = join(this.folder, '.mediabatch', 'runs');
    return existsSync(folder) ? readdirSync(folder).map((name) => name.replace(/\..*$/, '')) : [];
  }

  /** What each command says of the money of this copy. */
  async numbers(): Promise<Omit<Numbers, 'run'>> {
    const json = async (command: string) => {
      const words = [command, this.manifest, '--json'];
      const { out, err } = await this.run(...words);
      if (out === '') throw new Error(`no ${words.join(' ')}: ${err}`);
      return JSON.parse(out);
    };
    const told = { status: await json('status'), plan: await json('plan'), cost: await json('cost') };
    return { ...told, runs: await json('runs') };
  }

  /** Where it is asked which create is meant, the first that is named. */
  async resolve(address: string, ...args: string[]): Promise<Ran> {
    const ran = await this.run('resolve', this.manifest, address, ...args);
    const [, send] = /--send (\S+)/.exec(ran.err) ?? [];
    if (ran.code === 0 || send === undefined) return ran;
    return this.run('resolve', this.manifest, address, ...args, '--send', send);
  }

  get manifest(): string {
    return join(this.folder, 'campaign.yaml');
  }

  async plan(...args: string[]): Promise<PlanRow[]> {
    const { out, err } = await this.run('plan', this.manifest, '--json', ...args);
    if (out === '') throw new Error(`no plan: ${err}`);
    return (JSON.parse(out) as { rows: PlanRow[] }).rows;
  }

  async credits(): Promise<Credits> {
    const { out, err } = await this.run('status', this.manifest, '--json');
    if (out === '') throw new Error(`no status: ${err}`);
    return (JSON.parse(out) as { credits: Credits }).credits;
  }

  /**
   * As soon as a create of `subject` is booked nobody reaches the service until the run has given up: its answer is lost.
   * False: nothing was booked.
   */
  async applyUnanswered(subject: string, ...args: string[]): Promise<boolean> {
    const { service } = this.#studio;
    service.onBooked = (job) => {
      service.isDown ||= job.subject === subject;
    };
    await this.apply(...args);
    const isLost = service.isDown;
    Object.assign(service, { onBooked: () => {}, isDown: false });
    return isLost;
  }

  /**
   * As if the machine had lost power when a create of `subject` was booked: what was on disk then is what there is
   * afterwards, and no time has passed. False: nothing was booked.
   */
  async applyUntilPowerCut(subject: string, ...args: string[]): Promise<boolean> {
    const { service, time } = this.#studio;
    let cutAt = 0;
    const kept = join(this.folder, '..', 'power-cut');
    rmSync(kept, { recursive: true, force: true });
    service.onBooked = (job) => {
      if (job.subject !== subject || service.isDown) return;
      copyJournal(this.folder, kept);
      service.isDown = true;
      cutAt = time.now();
    };
    await this.apply(...args);
    const isCut = service.isDown;
    Object.assign(service, { onBooked: () => {}, isDown: false });
    if (isCut) {
      copyJournal(kept, this.folder);
      time.turnBackTo(cutAt);
    }
    return isCut;
  }
}

const bringsOthers = /^(checkout|merge|cherry-pick|revert|stash|pull)$/;

/** The lock, and what is kept beside it, but not who holds it: that is this process, which lives. */
function copyJournal(from: string, to: string): void {
  for (const name of ['campaign.lock.jsonl', '.mediabatch']) {
    rmSync(join(to, name), { recursive: true, force: true });
    if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name), { recursive: true });
  }
  rmSync(join(to, '.mediabatch', 'campaign.lock.jsonl.guard'), { force: true });
}

function requestOf(kind: string, says: string): { [field: string]: string } {
  switch (kind) {
    case 'image':
      return { prompt: says, resolution: '1k' };
    case 'music':
      return { prompt: says, model: 'song-7.5' };
    case 'voiceover':
      return { text: says, voice_id: 'Aria' };
    default:
      return { prompt: says };
  }
}

/** Numbers of the campaign, by the command that tells them. */
export interface Numbers {
  status: { credits: Credits };
  plan: { totals: { alreadyPaid: number; held: number; budget?: number; budgetLeft?: number } };
  cost: { totals: { spent: number } };
  /** The run that the summary is of; absent where none was recorded. */
  run: string | undefined;
  runs: { runs: { id: string; spentNow: number }[] };
}

/** One run, one campaign: its summary, status, next plan, costs and the list of runs say the same of it. */
function compareNumbers(summary: string, { status, plan, cost, run, runs }: Numbers): void {
  const number = (pattern: RegExp) => Number(pattern.exec(summary)?.[1]?.replaceAll('\u202f', ''));
  const { spent, held, heldUnknown, left } = status.credits;
  expect({
    summary: number(/^credits +([\d\u202f]+) spent/m),
    plan: plan.totals.alreadyPaid,
    cost: cost.totals.spent,
  }).toEqual({ summary: spent, plan: spent, cost: spent });
  if (run !== undefined) {
    // A summary names the credits of its run only if earlier runs spent some, too.
    const now = /^credits .* spent \(/m.test(summary) ? number(/^credits .* spent \(([\d\u202f]+) now\)/m) : spent;
    const spentNow = runs.runs.find(({ id }) => id === run)?.spentNow;
    expect({ run: spentNow }, summary).toEqual({ run: now });
  }
  if (left === undefined) return;
  expect({ summary: number(/^credits .* ([\d\u202f]+) of [\d\u202f]+ left/m) }, summary).toEqual({ summary: left });
  if (held + heldUnknown === 0) expect(plan.totals.budgetLeft).toBe(left);
}
