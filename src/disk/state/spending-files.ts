import { constants, readdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { SpendingLimits } from '../../contract/spending.ts';
import type { Json } from '../../ground/json.ts';
import { coalesce } from '../fs/coalesce.ts';
import { makeFolders } from '../fs/folders.ts';
import { isErrno, noFollow, openPlainFile, statPlainFile } from '../fs/plain-file.ts';
import { identifyThisProcess, isCertainlyDead, type ProcessIdentity } from '../lock/process-identity.ts';
import { digestOf } from '../outputs/hash-file.ts';
import { lockName } from './own-files.ts';
import { findOwnFolder, makeOwnFolder } from './own-secret.ts';
import { type SpendingClock, type SpendingHome, SpendingLedger } from './spending-ledger.ts';
import { type Finder, type SpendingLine, SpendingSums, type Verdict } from './spending-sums.ts';

/** Below the folder of this person's secret, a file for each month. */
const folderName = 'spending';
const fileName = /^\d{4}-\d{2}\.jsonl$/;
const pieceBytes = 1 << 18;

/** Opens the ledger of this person on this machine for a run. Undefined where this person can keep nothing. */
export async function openSpending(
  lock: string,
  { limits, clock }: { limits: SpendingLimits; clock: SpendingClock },
): Promise<(SpendingLedger & { close(): Promise<void> }) | undefined> {
  const own = await makeOwnFolder();
  if (own === undefined) return undefined;
  const folder = join(own, folderName);
  await makeFolders(folder, 0o700);
  const by = await identifyThisProcess();
  const files = new SpendingFiles({ folder, limits, self: by, clock });
  const ledger = new SpendingLedger(files, { lock: digestOfLock(lock), path: lockName(lock), by, clock });
  return Object.assign(ledger, { close: () => files.close() });
}

/**
 * The lines of this person on this machine, a file for each month. They are only ever added, each with one write, so that
 * all processes see them in one order and come to the same sums.
 */
class SpendingFiles implements SpendingHome {
  readonly limits: SpendingLimits;
  readonly named = 'MEDIABATCH_LIMIT';
  readonly #folder: string;
  readonly #self: ProcessIdentity;
  readonly #clock: SpendingClock;
  readonly #verdicts = new Map<string, Verdict>();
  readonly #flush = coalesce(() => this.#write());
  #month: OpenMonth | undefined;
  #waiting: SpendingLine[] = [];

  constructor(options: { folder: string; limits: SpendingLimits; self: ProcessIdentity; clock: SpendingClock }) {
    this.#folder = options.folder;
    this.limits = options.limits;
    this.#self = options.self;
    this.#clock = options.clock;
  }

  async add(line: SpendingLine): Promise<Verdict> {
    this.#waiting.push(line);
    await this.#flush();
    if (!('hold' in line) || line.limits === undefined) return { is: 'held' };
    const verdict = this.#verdicts.get(line.line);
    if (verdict === undefined) throw new Error('the ledger of what is spent lost a line that was just written');
    this.#verdicts.delete(line.line);
    return verdict;
  }

  async isGone(finder: Finder): Promise<boolean> {
    return typeof finder === 'object' && isCertainlyDead(finder, this.#self);
  }

  /** Whatever is held stays held. */
  async close(): Promise<void> {
    await this.#flush().catch(() => undefined);
    await this.#month?.handle.close();
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const month = await this.#openMonth();
    const lines = this.#waiting;
    this.#waiting = [];
    // What a crash cut off ends at the line feed before.
    const text = lines.map((line) => `\n${JSON.stringify(line)}\n`).join('');
    const { bytesWritten } = await month.handle.write(text);
    if (bytesWritten < Buffer.byteLength(text)) throw new Error(`${month.path} took only a part of what was written`);
    // Without a limit nothing rests on them that the lock does not have.
    if ((this.limits.day ?? this.limits.month) === undefined || !lines.some((line) => 'hold' in line)) return;
    await month.handle.datasync();
    for (const { line, verdict } of await month.readOn()) {
      if (lines.some((own) => 'line' in own && own.line === line)) this.#verdicts.set(line, verdict);
    }
  }

  /** The month of this clock, or a later one that has begun: no clock that was set back opens a month again. */
  async #openMonth(): Promise<OpenMonth> {
    const name = lastMonth(this.#folder, new Date(this.#clock.now()).toISOString());
    if (this.#month?.name === name) return this.#month;
    await this.#month?.handle.close();
    this.#month = await OpenMonth.open(this.#folder, name);
    return this.#month;
  }
}

/** The file of a month, read once, and then as it grows. */
class OpenMonth {
  readonly sums = new SpendingSums();
  readonly name: string;
  readonly path: string;
  readonly handle: FileHandle;
  #position = 0;
  #rest = Buffer.alloc(0);

  private constructor(name: string, path: string, handle: FileHandle) {
    this.name = name;
    this.path = path;
    this.handle = handle;
  }

  static async open(folder: string, name: string): Promise<OpenMonth> {
    const path = join(folder, name);
    statPlainFile(path);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | noFollow;
    return new OpenMonth(name, path, await open(path, flags, 0o600));
  }

  /** Takes in what was added, by whomever, and gives the verdicts on its holds. */
  async readOn(): Promise<{ line: string; verdict: Verdict }[]> {
    const found: { line: string; verdict: Verdict }[] = [];
    const buffer = Buffer.alloc(pieceBytes);
    for (;;) {
      const { bytesRead } = await this.handle.read(buffer, 0, pieceBytes, this.#position);
      if (bytesRead === 0) return found;
      this.#position += bytesRead;
      const bytes = Buffer.concat([this.#rest, buffer.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf(0x0a) + 1;
      this.#rest = bytes.subarray(end);
      for (const value of valuesOf(bytes.toString('utf8', 0, end))) {
        const verdict = this.sums.add(value);
        if (verdict !== undefined) found.push(verdict);
      }
    }
  }
}

/** Sums what is spent and held on the day and in the month of this time, over all campaigns. */
export async function readSpent(now: number): Promise<{ day: number; month: number }> {
  const at = new Date(now).toISOString();
  const own = findOwnFolder();
  if (own === undefined) return { day: 0, month: 0 };
  const folder = join(own, folderName);
  return (await readSums(folder, lastMonth(folder, at))).spentAt(at);
}

async function readSums(folder: string, name: string): Promise<SpendingSums> {
  const sums = new SpendingSums();
  for (const value of valuesOf(await readMonth(join(folder, name)))) sums.add(value);
  return sums;
}

async function readMonth(path: string): Promise<string> {
  const handle = await openPlainFile(path, constants.O_RDONLY);
  try {
    return (await handle?.readFile('utf8')) ?? '';
  } finally {
    await handle?.close();
  }
}

function lastMonth(folder: string, at: string): string {
  const own = `${at.slice(0, 7)}.jsonl`;
  return [own, ...monthsIn(folder)].sort().at(-1) ?? own;
}

function monthsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => fileName.test(name));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    if (isErrno(error, 'ENOTDIR')) throw new UnsafeFileError(folder, 'no folder');
    throw error;
  }
}

/** How the ledger names a lock. */
function digestOfLock(path: string): string {
  return digestOf(Buffer.from(lockName(path))).sha256.slice(0, 16);
}

function* valuesOf(text: string): Generator<Json> {
  for (const line of text.split('\n')) {
    if (!line.startsWith('{')) continue;
    try {
      yield JSON.parse(line) as Json;
    } catch {
      // Cut off.
    }
  }
}
