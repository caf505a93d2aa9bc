import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../contract/clock.ts';
import type { PurchaseJournal, Reservation, ReserveOptions } from '../../contract/ports.ts';
import { isMap, type JsonMap } from '../../ground/values.ts';
import { joinParts, partOf } from '../../lock/join.ts';
import type { LockLine, StepRecord } from '../../lock/record.ts';
import { isJob, isOpenSend } from '../../lock/sends.ts';
import { writeLine } from '../../lock/write.ts';
import { coalesce } from '../fs/coalesce.ts';
import { makeFolders } from '../fs/folders.ts';
import { noFollow, openPlainFile, statPlainFile } from '../fs/plain-file.ts';
import {
  endedWithItsMachine,
  identifyThisProcess,
  isCertainlyDead,
  type ProcessIdentity,
} from '../lock/process-identity.ts';
import { findOwnFolder, makeOwnFolder } from './own-secret.ts';

/** Below the user's state folder, a file for each account and campaign name. */
const folderName = 'purchases';
const pieceBytes = 1 << 18;
const waitMs = 200;
/** A reservation of a process that cannot be checked from here (another container, a shared home) is void after this. */
const foreignMs = 24 * 3_600_000;

/** Beginning of a line, so that most lines are never parsed. `hold`: reserved; `free`: given back. */
const lineForm = /^\{"key":"([^"\\]+)","is":"(send|job|end|hold|free)","id":"([^"\\]*)"/;

interface Hold {
  id: string;
  at: number;
  by: ProcessIdentity;
}

/** All lines of one key. */
class Entry {
  readonly texts: string[] = [];
  readonly jobs = new Set<string>();
  holds: Hold[] = [];
  sends = 0;
  #last: string | undefined;

  add(is: string, id: string, text: string): void {
    if (is === 'free') this.holds = this.holds.filter((hold) => hold.id !== id);
    else if (is === 'hold') {
      const { at, by } = parseLine(text) ?? {};
      if (typeof at === 'number' && isMap(by)) this.holds.push({ id, at, by: by as unknown as ProcessIdentity });
    } else {
      this.#last = is;
      this.texts.push(text);
      if (is === 'job') this.jobs.add(id);
      if (is === 'send') this.sends += 1;
    }
  }

  /** Whether a lock with these jobs knows all of it. No line is parsed for that. */
  isKnownBy(hasJob: (jobId: string) => boolean): boolean {
    return this.#last === 'job' && this.sends <= 1 && [...this.jobs].every(hasJob);
  }

  /** The records of this key, by address. */
  records(): StepRecord[] {
    const lines = new Map<string, LockLine[]>();
    for (const text of this.texts) {
      const line = parseLine(text)?.line as unknown as LockLine | undefined;
      if (line === undefined) continue;
      const same = lines.get(line.address);
      if (same === undefined) lines.set(line.address, [line]);
      else same.push(line);
    }
    return [...lines].flatMap(([address, [first, ...others]]) =>
      first === undefined ? [] : [joinParts(address, [partOf(first), ...others.map(partOf)])],
    );
  }
}

/** The lines of a file, by key. */
class Entries {
  readonly byKey = new Map<string, Entry>();
  #rest = '';

  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    // A line that is not ended yet is another process's.
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, key, is, id] = lineForm.exec(line) ?? [];
      if (key === undefined || is === undefined || id === undefined) continue;
      const known = this.byKey.get(key) ?? new Entry();
      this.byKey.set(key, known);
      known.add(is, id, line);
    }
  }
}

/**
 * Reads what was bought, or sent without an answer, on this machine under the name `name`, as records of a lock. Keys of
 * which `isKnown` answers true for every job are left out. Only reads.
 */
export async function readPurchases(
  name: string,
  isKnown: (key: string, jobId: string) => boolean,
): Promise<StepRecord[]> {
  const own = findOwnFolder();
  const handle = own === undefined ? undefined : await openPlainFile(fileOf(own, name), constants.O_RDONLY);
  if (handle === undefined) return [];
  try {
    const entries = new Entries();
    entries.add(await handle.readFile('utf8'));
    return [...entries.byKey].flatMap(([key, entry]) =>
      entry.isKnownBy((jobId) => isKnown(key, jobId)) ? [] : entry.records(),
    );
  } finally {
    await handle.close();
  }
}

/** Opens the journal for a run, or for a decision. Undefined where this user has no state folder that can be written. */
export async function openPurchases(
  name: string,
  clock: Pick<Clock, 'now' | 'sleep'>,
): Promise<(PurchaseJournal & { close(): Promise<void> }) | undefined> {
  const own = await makeOwnFolder();
  if (own === undefined) return undefined;
  try {
    const folder = join(own, folderName);
    await makeFolders(folder, 0o700);
    const path = fileOf(own, name);
    statPlainFile(path);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | noFollow;
    const handle = await open(path, flags, 0o600);
    return new PurchaseFile(handle, { folder, self: await identifyThisProcess(), clock });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

/**
 * The file of one account and campaign name. Lines are only added, each batch with one write, so that all processes see
 * them in one order: of two reservations of a key the first in the file counts.
 */
class PurchaseFile implements PurchaseJournal {
  readonly #handle: FileHandle;
  readonly #folder: string;
  readonly #self: ProcessIdentity;
  readonly #clock: Pick<Clock, 'now' | 'sleep'>;
  readonly #run = randomBytes(8).toString('hex');
  readonly #entries = new Entries();
  readonly #buffer = Buffer.alloc(pieceBytes);
  readonly #decoder = new TextDecoder();
  readonly #held = new Set<string>();
  readonly #flush = coalesce(() => this.#write());
  readonly #readOn = coalesce(() => this.#read());
  #position = 0;
  #waiting: string[] = [];

  constructor(
    handle: FileHandle,
    options: { folder: string; self: ProcessIdentity; clock: Pick<Clock, 'now' | 'sleep'> },
  ) {
    this.#handle = handle;
    this.#folder = options.folder;
    this.#self = options.self;
    this.#clock = options.clock;
  }

  async reserve(key: string, { asks, isClosed, isStopped }: ReserveOptions): Promise<Reservation> {
    this.#held.add(key);
    await this.#put({ key, is: 'hold', id: this.#run, at: this.#clock.now(), by: this.#self });
    for (;;) {
      await this.#readOn();
      const entry = this.#entries.byKey.get(key);
      const [first] = entry?.holds ?? [];
      const records = entry?.records() ?? [];
      const isOurs = first === undefined || first.id === this.#run;
      if (isAnswered(records, { asks, isOurs, isClosed })) {
        this.release(key);
        return { is: 'known', records };
      }
      if (isOurs) return { is: 'reserved' };
      if (isStopped()) {
        this.release(key);
        return { is: 'stopped' };
      }
      // Whoever was killed before its send was on record has sent nothing: it is recorded before it leaves.
      if (await this.#isGone(first)) await this.#put({ key, is: 'free', id: first.id });
      else await this.#clock.sleep(waitMs);
    }
  }

  release(key: string): void {
    if (!this.#held.delete(key)) return;
    this.#put({ key, is: 'free', id: this.#run }).catch(() => undefined);
  }

  add(line: LockLine): Promise<void> {
    const { earlier: _earlier, ...own } = line;
    if (own.jobId !== undefined) this.#held.delete(own.key);
    const is = own.jobId !== undefined ? 'job' : own.state === 'refused' || isEnd(own) ? 'end' : 'send';
    const id = own.jobId ?? ('send' in own ? own.send : undefined) ?? '';
    return this.#put({ key: own.key, is, id }, writeLine(own).trimEnd());
  }

  async close(): Promise<void> {
    for (const key of this.#held) this.release(key);
    await this.#flush().catch(() => undefined);
    await this.#handle.close();
  }

  async #put(head: { key: string; is: string; id: string; [field: string]: unknown }, line?: string): Promise<void> {
    const text = JSON.stringify(head).slice(0, -1);
    // What a crash cut off ends at the line feed before.
    this.#waiting.push(`\n${text}${line === undefined ? '' : `,"line":${line}`}}\n`);
    await this.#flush();
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const text = this.#waiting.join('');
    this.#waiting = [];
    const { bytesWritten } = await this.#handle.write(text);
    if (bytesWritten < Buffer.byteLength(text)) throw new Error('the purchase journal took only a part of a line');
  }

  async #read(): Promise<void> {
    for (;;) {
      const { bytesRead } = await this.#handle.read(this.#buffer, 0, pieceBytes, this.#position);
      if (bytesRead === 0) return;
      this.#position += bytesRead;
      this.#entries.add(this.#decoder.decode(this.#buffer.subarray(0, bytesRead), { stream: true }));
    }
  }

  async #isGone({ by, at }: Hold): Promise<boolean> {
    if (await isCertainlyDead(by, this.#self)) return true;
    if (await endedWithItsMachine(by, this.#self, this.#folder)) return true;
    return by.namespace !== this.#self.namespace && this.#clock.now() - at > foreignMs;
  }
}

/** Tells whether a key is not to be sent: it has a job, or a send of a killed run. A step that `asks` wants its own answer. */
function isAnswered(
  records: readonly StepRecord[],
  { asks, isOurs, isClosed }: Pick<ReserveOptions, 'asks' | 'isClosed'> & { isOurs: boolean },
): boolean {
  if (asks !== undefined) return records.some(({ closes }) => closes?.includes(asks));
  const made = records.flatMap(({ purchases }) => purchases);
  return made.some(
    (one) => (isJob(one) && one.forgotten !== true) || (isOurs && isOpenSend(one) && !isClosed(one.send)),
  );
}

/** A send that came to nothing: it did not leave, or a list shows that no job came of it. */
function isEnd({ closes, ...line }: LockLine): boolean {
  return 'send' in line && line.send !== undefined && closes?.includes(line.send) === true;
}

function fileOf(folder: string, name: string): string {
  return join(folder, folderName, `${name}.jsonl`);
}

function parseLine(text: string): JsonMap | undefined {
  try {
    return JSON.parse(text) as JsonMap;
  } catch {
    return undefined;
  }
}
