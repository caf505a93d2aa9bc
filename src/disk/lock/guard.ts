import { randomBytes } from 'node:crypto';
import { closeSync, readFileSync } from 'node:fs';
import { link, lstat, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../contract/clock.ts';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { Holder } from '../../contract/failure.ts';
import { coalesce } from '../fs/coalesce.ts';
import { renameFile, syncFolder, unlinkFile } from '../fs/durable.ts';
import { hasNoLinks, isErrno, openSeenFile, orAbsent, statPlainFile } from '../fs/plain-file.ts';
import { temporaryName, writeNewFile } from '../fs/replace.ts';
import { ignoreItself, isRealFolder } from '../state/state-folder.ts';
import { endedWithItsMachine, identifyThisProcess, isCertainlyDead, type ProcessIdentity } from './process-identity.ts';

/** Content of a guard: the process that took it. */
export interface HolderNote extends ProcessIdentity {
  since: string;
  id: string;
}

export type GuardAnswer =
  | { is: 'taken'; guard: Guard; tookOver?: Holder }
  /** `note`: further advice for a person, for example that the guard cannot be read and how to remove it. */
  | { is: 'held'; by: Holder; note?: string };

/** The right to be the only run on a lock. */
export interface Guard {
  readonly id: string;
  /** Whether it is still ours, to be checked before each paid act: someone may have removed the guard by hand. */
  stillOurs(): Promise<boolean>;
  release(): Promise<void>;
}

/** Interval between two checks of a guard that is held. */
const lookEveryMs = 200;

/**
 * Takes the right to be the only run on a lock. The guard is a file beside the lock that is created whole (by `link`),
 * so exactly one of many contenders gets it. A holder whose process is certainly gone is taken over; a live, stopped or
 * unknown one never is. `waitMs`: how long to wait for a live holder, counted in waits and not by the clock.
 */
export async function takeGuard(
  lockPath: string,
  options: { waitMs: number; clock: Pick<Clock, 'now' | 'sleep'> },
): Promise<GuardAnswer> {
  const path = await prepareGuardPath(lockPath);
  const self = await identifyThisProcess();
  const since = new Date(options.clock.now()).toISOString();
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const note: HolderNote = { ...self, since, id: randomBytes(8).toString('hex') };
    const attempt = await tryToTake(path, note);
    if (attempt.is === 'taken') {
      const { tookOver } = attempt;
      return { is: 'taken', guard: makeGuard(path, note.id), ...(tookOver && { tookOver: holderOf(tookOver) }) };
    }
    const leftMs = options.waitMs - waitedMs;
    if (leftMs <= 0) return attempt;
    await options.clock.sleep(Math.min(lookEveryMs, leftMs));
  }
}

/** The current holder of the lock; undefined when there is none, or the guard is unreadable. Changes nothing. */
export async function readGuardHolder(lockPath: string): Promise<Holder | undefined> {
  if (!hasFolder(guardPath(lockPath))) return undefined;
  const state = await readState(guardPath(lockPath));
  return state.is === 'held' ? holderOf(state.note) : undefined;
}

/** The same without a holder that is certainly gone, whose claim the next run takes over. */
export async function readLiveHolder(lockPath: string): Promise<Holder | undefined> {
  const path = guardPath(lockPath);
  if (!hasFolder(path)) return undefined;
  const state = await readState(path);
  if (state.is !== 'held') return undefined;
  const self = await identifyThisProcess();
  return (await isCertainlyDead(state.note, self)) ? undefined : holderOf(state.note);
}

/** Removes a guard by hand. `other`: it belongs to another run than the one named. */
export async function removeGuard(lockPath: string, id: string): Promise<'removed' | 'absent' | 'other'> {
  const path = guardPath(lockPath);
  if (!hasFolder(path)) return 'absent';
  const state = await readState(path);
  if (state.is === 'free') return 'absent';
  if (state.is === 'unreadable' || state.note.id !== id) return 'other';
  await unlinkFile(path);
  await orAbsent(unlinkFile(takeoverPath(path, id)));
  return 'removed';
}

type Attempt = { is: 'taken'; tookOver?: HolderNote } | Extract<GuardAnswer, { is: 'held' }>;

/**
 * A single attempt. The right to replace a dead holder's guard with one's own is itself such a guard, named after that
 * holder: so only one contender at a time can replace it, and one that dies in the act is taken over in turn.
 */
async function tryToTake(path: string, note: HolderNote): Promise<Attempt> {
  if (await place(path, note)) return { is: 'taken' };
  const state = await readState(path);
  if (state.is === 'free') return tryToTake(path, note);
  if (state.is === 'unreadable') return heldByUnknown(path);
  const holder = state.note;
  const isDead = (await isCertainlyDead(holder, note)) || (await endedWithItsMachine(holder, note, dirname(path)));
  if (!isDead) return { is: 'held', by: holderOf(holder) };
  const right = takeoverPath(path, holder.id);
  const turn = await tryToTake(right, note);
  if (turn.is === 'held') return turn;
  try {
    const now = await readState(path);
    // Someone else was faster, between our check and our turn.
    if (now.is !== 'held' || now.note.id !== holder.id) return tryToTake(path, note);
    await put(path, note);
    return { is: 'taken', tookOver: holder };
  } finally {
    await orAbsent(unlinkFile(right));
  }
}

/** Gives the guard its name. False: the name is taken. */
async function place(path: string, note: HolderNote): Promise<boolean> {
  const temporary = join(dirname(path), temporaryName('tmp'));
  await writeNewFile(temporary, writeNote(note), 0o600);
  try {
    await link(temporary, path); // I13
    await syncFolder(dirname(path));
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    if (hasNoLinks(error)) return placeWithoutLinks(path, note);
    throw error;
  } finally {
    await orAbsent(unlinkFile(temporary));
  }
}

/** Places a guard where there are no hard links: a contender may see it empty for a moment, and treats it as held. */
async function placeWithoutLinks(path: string, note: HolderNote): Promise<boolean> {
  try {
    await writeNewFile(path, writeNote(note), 0o600);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

async function put(path: string, note: HolderNote): Promise<void> {
  const temporary = join(dirname(path), temporaryName('tmp'));
  await writeNewFile(temporary, writeNote(note), 0o600);
  try {
    await renameFile(temporary, path);
  } catch (error) {
    await orAbsent(unlinkFile(temporary));
    throw error;
  }
  await syncFolder(dirname(path));
}

function makeGuard(path: string, id: string): Guard {
  const stillOurs = async () => {
    const state = await readState(path);
    return state.is === 'held' && state.note.id === id;
  };
  return {
    id,
    // Checked before each create: concurrent callers share a check.
    stillOurs: coalesce(stillOurs),
    async release() {
      if (await stillOurs()) await orAbsent(unlinkFile(path));
    },
  };
}

type GuardState = { is: 'free' } | { is: 'unreadable' } | { is: 'held'; note: HolderNote };

async function readState(path: string): Promise<GuardState> {
  try {
    const file = statPlainFile(path) === undefined ? undefined : openSeenFile(path);
    if (file === undefined) return { is: 'free' };
    try {
      const note = parseNote(readFileSync(file.fd, 'utf8'));
      return note === undefined ? { is: 'unreadable' } : { is: 'held', note };
    } finally {
      closeSync(file.fd);
    }
  } catch (error) {
    if (error instanceof UnsafeFileError) return { is: 'unreadable' };
    throw error;
  }
}

function heldByUnknown(path: string): Extract<GuardAnswer, { is: 'held' }> {
  return {
    is: 'held',
    by: { host: 'unknown', pid: 0, since: 'unknown', id: 'unknown' },
    note: `the guard ${path} cannot be read, so it is not known who holds the lock; if no mediabatch is running on it, remove that file`,
  };
}

/** Nothing is sought, or removed, behind a link. */
function hasFolder(path: string): boolean {
  try {
    return isRealFolder(dirname(path));
  } catch (error) {
    if (error instanceof UnsafeFileError) return false;
    throw error;
  }
}

function guardPath(lockPath: string): string {
  return join(dirname(lockPath), '.mediabatch', `${basename(lockPath)}.guard`);
}

/** Named after the dead holder alone: if run after run dies in the act, the names do not grow. */
function takeoverPath(path: string, deadId: string): string {
  return `${path.replace(/\.stale\.[0-9a-f]+$/, '')}.stale.${deadId}`;
}

/** Makes the folder for files that are never committed. A symbolic link in its place could lead anywhere. */
async function prepareGuardPath(lockPath: string): Promise<string> {
  const path = guardPath(lockPath);
  const folder = dirname(path);
  await mkdir(folder).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error;
  });
  if (!(await lstat(folder)).isDirectory())
    throw new UnsafeFileError(folder, 'a link or a file in the place of a folder');
  await ignoreItself(folder);
  return path;
}

export function writeNote(note: HolderNote): Uint8Array {
  const { id, host, pid, since, boot, machine, namespace, started } = note;
  const fields = { mediabatch: 'guard', version: 1, id, host, pid, since, boot, machine, namespace, started };
  return Buffer.from(`${JSON.stringify(fields)}\n`);
}

/** Reads the note of a guard. Undefined for anything that is not certainly one of our guards. */
export function parseNote(text: string): HolderNote | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(fields) || fields.mediabatch !== 'guard' || fields.version !== 1) return undefined;
  const { id, host, pid, since, boot, machine, namespace, started } = fields;
  // The ID becomes a part of a file name.
  if (typeof id !== 'string' || !/^[0-9a-f]{16}$/.test(id)) return undefined;
  if (typeof host !== 'string' || typeof since !== 'string') return undefined;
  // To the kernel, 0 and negative numbers mean process groups.
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  return {
    id,
    host,
    pid,
    since,
    ...(typeof boot === 'string' && { boot }),
    ...(typeof machine === 'string' && { machine }),
    ...(typeof namespace === 'string' && { namespace }),
    ...(typeof started === 'string' && { started }),
  };
}

export function holderOf({ host, pid, since, id }: HolderNote): Holder {
  return { host, pid, since, id };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
