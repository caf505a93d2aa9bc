import { hash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { PurchaseJournal, Reservation, ReserveOptions } from '../../contract/ports.ts';
import type { Hold, HoldAnswer, SpendingLimits } from '../../contract/spending.ts';
import { parseJson } from '../../ground/json.ts';
import { groupBy, isMap, mapOf } from '../../ground/values.ts';
import { joinParts, partOf } from '../../lock/join.ts';
import type { Lock, LockLine, StepRecord } from '../../lock/record.ts';
import { isJob, isOpenSend } from '../../lock/sends.ts';
import { writeLine } from '../../lock/write.ts';
import { coalesce } from '../fs/durable.ts';
import { makeFolders, namesIn } from '../fs/folders.ts';
import {
  endedWithItsMachine,
  identifyThisProcess,
  isCertainlyDead,
  type ProcessIdentity,
} from '../lock/process-identity.ts';
import { lockName } from './own-files.ts';
import { findOwn, makeOwn } from './sealed-file.ts';
import { type LinePlace, type LineReader, readSharedLines, SharedLines } from './shared-lines.ts';
import { SpendingFiles } from './spending-files.ts';
import { isUnsent, type SpendingClock, SpendingLedger } from './spending-ledger.ts';

const folderName = 'purchases';
const waitMs = 200;
/**
 * Time in ms after which the reservation of a process in another container expires, because a run cannot check whether
 * that process has ended.
 */
const foreignMs = 24 * 3_600_000;

const lineForm = /^\{"key":"([^"\\]+)","is":"(send|job|end|hold|free)","id":"([^"\\]*)"/;

interface Reserved {
  run: Run;
  at: number;
}

interface Run {
  id: string;
  by: ProcessIdentity;
}

class Entry {
  /** Positions of the key's lines in the journal file. The lines are not in memory, because a long run has many. */
  readonly #places: LinePlace[] = [];
  holds: Reserved[] = [];
  #sends = 0;
  #endsWithJob = false;
  #hasUnknownJob = false;

  hold(hold: Reserved): void {
    const known = this.holds.find(({ run }) => run === hold.run);
    if (known === undefined) this.holds.push(hold);
    else known.at = hold.at;
  }

  free(id: string): void {
    this.holds = this.holds.filter(({ run }) => run.id !== id);
  }

  add(is: string, place: LinePlace, isKnown: boolean): void {
    this.#places.push(place);
    this.#endsWithJob = is === 'job';
    if (is === 'job' && !isKnown) this.#hasUnknownJob = true;
    if (is === 'send') this.#sends += 1;
  }

  get isKnown(): boolean {
    return this.#endsWithJob && this.#sends <= 1 && !this.#hasUnknownJob;
  }

  records(file: Pick<LineReader, 'lineAt'>): StepRecord[] {
    const lines = this.#places.flatMap((place) => {
      const { line } = mapOf(parseJson(file.lineAt(place)));
      return line === undefined ? [] : [line as unknown as LockLine];
    });
    return [...groupBy(lines, ({ address }) => address)].flatMap(([address, [first, ...others]]) =>
      first === undefined ? [] : [joinParts(address, [partOf(first), ...others.map(partOf)])],
    );
  }
}

class Entries {
  readonly byKey = new Map<string, Entry>();
  readonly #runs = new Map<string, Run>();
  readonly #isKnown: ((key: string, jobId: string) => boolean) | undefined;

  /** `isKnown`: returns whether the lock contains the job. If `isKnown` is set, reservations of keys are ignored. */
  constructor(isKnown?: (key: string, jobId: string) => boolean) {
    this.#isKnown = isKnown;
  }

  add(text: string, place: LinePlace): void {
    const [, key, is, id] = lineForm.exec(text) ?? [];
    if (key === undefined || is === undefined || id === undefined) return;
    const isHold = is === 'hold' || is === 'free';
    if (isHold && this.#isKnown !== undefined) return;
    const entry = this.byKey.get(key) ?? this.expect(copyOf(key));
    if (is === 'free') entry.free(id);
    else if (is === 'hold') this.#addHold(entry, id, text);
    else entry.add(is, place, is === 'job' && this.#isKnown?.(key, id) === true);
  }

  expect(key: string): Entry {
    const entry = this.byKey.get(key) ?? new Entry();
    this.byKey.set(key, entry);
    return entry;
  }

  #addHold(entry: Entry, id: string, text: string): void {
    const { at, by } = mapOf(parseJson(text));
    if (typeof at !== 'number' || !isMap(by)) return;
    const run = this.#runs.get(id) ?? { id: copyOf(id), by: by as unknown as ProcessIdentity };
    this.#runs.set(run.id, run);
    entry.hold({ run, at });
  }
}

/** Copies a part of a line. Without the copy, V8 would hold the whole line in memory as long as its part is used. */
function copyOf(part: string): string {
  return Buffer.from(part).toString();
}

/**
 * Reads the purchases and unresolved creates of the journal `name`. `isKnown`: returns whether the lock contains the
 * job. A key is omitted if the lock contains all its jobs.
 */
export async function readPurchases(
  name: string,
  isKnown: (key: string, jobId: string) => boolean,
): Promise<StepRecord[]> {
  const own = findOwn()?.folder;
  if (own === undefined) return [];
  const records = await readSharedLines(fileOf(own, name), (lines) => {
    const entries = new Entries(isKnown);
    lines.readOn((text, place) => entries.add(text, place));
    return [...entries.byKey.values()].flatMap((entry) => (entry.isKnown ? [] : entry.records(lines)));
  });
  return records ?? [];
}

/** `text`: service and campaign. */
export function journalName(text: string, account: string): string {
  return `${hash('sha256', text).slice(0, 16)}-${account}`;
}

/** Returns whether another account of this user has a journal of the same service and campaign. */
export function hasOtherAccount(name: string): boolean {
  const own = findOwn()?.folder;
  if (own === undefined) return false;
  const [campaign] = name.split('-');
  return namesIn(join(own, folderName)).some(
    (one) => one.startsWith(`${campaign}-`) && one.endsWith('.jsonl') && one !== `${name}.jsonl`,
  );
}

interface OpenOptions {
  clock: SpendingClock;
  /** Spending limits of all campaigns, and the path of the run's lock. If omitted, the journal reserves no credits. */
  spending?: { limits: SpendingLimits; lock: string };
}

/** Opens the journal. Returns `undefined` if this user has no writable state folder. */
export async function openPurchases(
  name: string,
  { clock, spending }: OpenOptions,
): Promise<(PurchaseJournal & { close(): Promise<void> }) | undefined> {
  const own = (await makeOwn())?.folder;
  if (own === undefined) return undefined;
  try {
    const folder = join(own, folderName);
    await makeFolders(folder, 0o700);
    const self = await identifyThisProcess();
    const { limits = {}, lock = '' } = spending ?? {};
    const home = spending && (await openHome(own, { limits, self, clock }));
    const lines = new SharedLines(fileOf(own, name));
    const ledger = home && new SpendingLedger(home, { campaign: name, path: lockName(lock), by: self, clock });
    return new PurchaseFile({ lines, folder, self, clock, home, ledger });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

/** Opens the spending files. If these cannot be written, returns `undefined` or, with a spending limit, throws. */
async function openHome(
  own: string,
  options: Parameters<typeof SpendingFiles.open>[1],
): Promise<SpendingFiles | undefined> {
  try {
    return await SpendingFiles.open(own, options);
  } catch (error) {
    const isOfDisk = (error as NodeJS.ErrnoException).code !== undefined;
    if (!isOfDisk || Object.keys(options.limits).length > 0) throw error;
    return undefined;
  }
}

interface PurchaseFileParts {
  lines: SharedLines;
  folder: string;
  self: ProcessIdentity;
  clock: SpendingClock;
  home: SpendingFiles | undefined;
  ledger: SpendingLedger | undefined;
}

/**
 * Journal file of one account and campaign name. Each batch of lines is appended with one write, so that all processes
 * read the same order. If two runs reserve the same idempotency key, the run whose line is first has it.
 */
class PurchaseFile implements PurchaseJournal {
  readonly #of: PurchaseFileParts;
  readonly #run = randomBytes(8).toString('hex');
  readonly #entries = new Entries();
  readonly #held = new Map<string, number>();
  readonly #readOn = coalesce(async () => this.#of.lines.readOn((text, place) => this.#entries.add(text, place)));

  constructor(parts: PurchaseFileParts) {
    this.#of = parts;
  }

  async reserve(key: string, options: ReserveOptions): Promise<Reservation> {
    const entry = this.#entries.expect(key);
    await this.#putHold(key);
    for (;;) {
      await this.#readOn();
      const [first] = entry.holds;
      const records = entry.records(this.#of.lines);
      const isOurs = first === undefined || first.run.id === this.#run;
      if (isAnswered(records, { ...options, isOurs })) {
        this.release(key);
        return { is: 'known', records };
      }
      if (isOurs) return { is: 'reserved' };
      if (options.isStopped()) {
        this.release(key);
        return { is: 'stopped' };
      }
      // The reservation of a killed process can be ended: before each create request, the process wrote a line.
      if (await this.#hasEnded(first)) await this.#put({ key, is: 'free', id: first.run.id });
      else await this.#of.clock.sleep(waitMs);
    }
  }

  async hold(purchase: Hold, lock?: Pick<Lock, 'steps'>): Promise<HoldAnswer> {
    const jobs = () => [...(lock?.steps.values() ?? [])].flatMap(({ purchases }) => purchases.filter(isJob));
    const find = (key: string) => (this.#held.has(key) ? 'awaited' : jobs().find((job) => job.key === key));
    return this.#of.ledger?.hold(purchase, find) ?? 'held';
  }

  release(key: string): void {
    this.#of.ledger?.release(key);
    if (this.#held.delete(key)) this.#put({ key, is: 'free', id: this.#run }).catch(() => undefined);
  }

  async add(line: LockLine, text?: string): Promise<void> {
    const { earlier, ...own } = line;
    const is = own.jobId !== undefined ? 'job' : isUnsent(own) ? 'end' : 'send';
    if (is === 'send') await this.#confirm(own.key);
    this.#of.ledger?.note(own);
    if (is === 'job') this.#held.delete(own.key);
    const id = own.jobId ?? ('send' in own ? own.send : undefined) ?? '';
    const whole = earlier === undefined ? text : undefined;
    await this.#put({ key: own.key, is, id }, (whole ?? writeLine(own)).trimEnd());
  }

  async close(): Promise<void> {
    for (const key of this.#held.keys()) this.release(key);
    await this.#of.lines.close();
    await this.#of.home?.close();
  }

  #put(head: { key: string; is: string; id: string; [field: string]: unknown }, line?: string): Promise<void> {
    const text = JSON.stringify(head).slice(0, -1);
    return this.#of.lines.append(`${text}${line === undefined ? '' : `,"line":${line}`}}`);
  }

  #putHold(key: string): Promise<void> {
    const at = this.#of.clock.now();
    this.#held.set(key, at);
    return this.#put({ key, is: 'hold', id: this.#run, at, by: this.#of.self });
  }

  /**
   * Renews the reservation of a key before it expires. Throws if another run has reserved the key while this process
   * was suspended.
   */
  async #confirm(key: string): Promise<void> {
    const at = this.#held.get(key);
    if (at === undefined || Math.abs(this.#of.clock.now() - at) < foreignMs / 2) return;
    await this.#readOn();
    const isOurs = this.#entries.byKey.get(key)?.holds.some(({ run }) => run.id === this.#run) === true;
    if (!isOurs) throw new Error(`another run has reserved the idempotency key ${key}`);
    await this.#putHold(key);
    await this.#readOn();
    const [first] = this.#entries.byKey.get(key)?.holds ?? [];
    if (first?.run.id !== this.#run) throw new Error(`another run has reserved the idempotency key ${key}`);
  }

  async #hasEnded({ run: { by }, at }: Reserved): Promise<boolean> {
    if (await isCertainlyDead(by, this.#of.self)) return true;
    if (await endedWithItsMachine(by, this.#of.self, this.#of.folder)) return true;
    return by.namespace !== this.#of.self.namespace && this.#of.clock.now() - at > foreignMs;
  }
}

function fileOf(folder: string, name: string): string {
  return join(folder, folderName, `${name}.jsonl`);
}

/**
 * Returns whether a run must not send a create request, because its idempotency key has a job or an unresolved create.
 * An unresolved create counts only if this run has reserved the key (`isOurs`), so that the run that sent it has ended.
 * `asks`: create request whose lost answer the step recovers. If set, only a settled `asks` counts.
 */
export function isAnswered(
  records: readonly StepRecord[],
  { fingerprint, asks, isOurs, isClosed }: Omit<ReserveOptions, 'isStopped'> & { isOurs: boolean },
): boolean {
  if (asks !== undefined) return records.some(({ closes }) => closes?.includes(asks));
  const made = records.flatMap(({ purchases }) => purchases.filter((one) => one.fingerprint === fingerprint));
  return made.some(
    (one) => (isJob(one) && one.forgotten !== true) || (isOurs && isOpenSend(one) && !isClosed(one.send)),
  );
}
