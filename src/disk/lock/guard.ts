import { randomBytes } from 'node:crypto';
import { lstat, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../contract/clock.ts';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { Holder } from '../../contract/failure.ts';
import { parseJson } from '../../ground/json.ts';
import { defined, isMap } from '../../ground/values.ts';
import { coalesce, unlinkFile } from '../fs/durable.ts';
import { isErrno, lstatOrAbsent, orAbsent, readPlainFile } from '../fs/plain-file.ts';
import { createWhole, replaceFile } from '../fs/replace.ts';
import { ignoreItself } from '../state/state-folder.ts';
import { endedWithItsMachine, identifyThisProcess, isCertainlyDead, type ProcessIdentity } from './process-identity.ts';

interface HolderNote extends ProcessIdentity {
  since: string;
  id: string;
}

export type GuardAnswer =
  | { is: 'taken'; guard: Guard; tookOver?: Holder }
  /** `note`: advice to a user whose guard file cannot be read. */
  | { is: 'held'; by: Holder; note?: string };

export interface Guard {
  readonly id: string;
  /** Returns whether this run still holds the guard. Called before each purchase: a user may remove the guard. */
  isStillHeld(): Promise<boolean>;
  release(): Promise<void>;
}

const pollMs = 200;

/**
 * Takes the guard of a lock. The guard is a file that link(2) creates with its content, so only one process can create
 * it. A guard whose process has certainly ended is taken over. A guard of a live, stopped or unknown process is never
 * taken over. `waitMs`: longest wait for a live holder, as the sum of the pauses.
 */
export async function takeGuard(
  lockPath: string,
  options: { waitMs: number; clock: Pick<Clock, 'now' | 'sleep'> },
): Promise<GuardAnswer> {
  const path = await prepareGuardPath(lockPath);
  const self = await identifyThisProcess();
  const since = new Date(options.clock.now()).toISOString();
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const note: HolderNote = { ...self, since, id: randomBytes(8).toString('hex') };
    const attempt = await tryToTake(path, note);
    if (attempt.is === 'taken') {
      const { tookOver } = attempt;
      return { is: 'taken', guard: makeGuard(path, note.id), ...(tookOver && { tookOver: holderOf(tookOver) }) };
    }
    const leftMs = options.waitMs - waitedMs;
    if (leftMs <= 0) return attempt;
    await options.clock.sleep(Math.min(pollMs, leftMs));
  }
}

export async function readGuardHolder(lockPath: string): Promise<Holder | undefined> {
  const state = readState(guardPath(lockPath));
  return state.is === 'held' ? holderOf(state.note) : undefined;
}

/** Returns the process that holds the guard, unless that process has certainly ended. */
export async function readLiveHolder(lockPath: string): Promise<Holder | undefined> {
  const state = readState(guardPath(lockPath));
  if (state.is !== 'held') return undefined;
  const self = await identifyThisProcess();
  return (await isCertainlyDead(state.note, self)) ? undefined : holderOf(state.note);
}

/** Removes a guard at a user's request. Returns `other`, and removes nothing, if the guard has another id. */
export async function removeGuard(lockPath: string, id: string): Promise<'removed' | 'absent' | 'other'> {
  const path = guardPath(lockPath);
  const state = readState(path);
  if (state.is === 'free') return 'absent';
  if (state.is === 'unreadable' || state.note.id !== id) return 'other';
  await unlinkFile(path);
  await orAbsent(unlinkFile(takeoverPath(path, id)));
  return 'removed';
}

type Attempt = { is: 'taken'; tookOver?: HolderNote } | Extract<GuardAnswer, { is: 'held' }>;

/**
 * Tries once to take the guard. To replace the guard of a dead process, a process first takes a second guard that is
 * named after the dead process. With this second guard, only one process at a time can replace a guard. If the
 * replacing process dies, another process replaces its second guard in the same way.
 */
async function tryToTake(path: string, note: HolderNote): Promise<Attempt> {
  if (await createWhole(path, writeNote(note), 0o600)) return { is: 'taken' };
  const state = readState(path);
  if (state.is === 'free') return tryToTake(path, note);
  if (state.is === 'unreadable') return heldByUnknown(path);
  const holder = state.note;
  const isDead = (await isCertainlyDead(holder, note)) || (await endedWithItsMachine(holder, note, dirname(path)));
  if (!isDead) return { is: 'held', by: holderOf(holder) };
  const right = takeoverPath(path, holder.id);
  const turn = await tryToTake(right, note);
  if (turn.is === 'held') return turn;
  try {
    const now = readState(path);
    // Another process replaced the guard after the first check.
    if (now.is !== 'held' || now.note.id !== holder.id) return tryToTake(path, note);
    await replaceFile(path, writeNote(note));
    return { is: 'taken', tookOver: holder };
  } finally {
    await orAbsent(unlinkFile(right));
  }
}

function makeGuard(path: string, id: string): Guard {
  const stillOurs = async () => {
    const state = readState(path);
    return state.is === 'held' && state.note.id === id;
  };
  return {
    id,
    // Called before each create request. Concurrent calls read the guard file once.
    isStillHeld: coalesce(stillOurs),
    async release() {
      if (await stillOurs()) await orAbsent(unlinkFile(path));
    },
  };
}

type GuardState = { is: 'free' } | { is: 'unreadable' } | { is: 'held'; note: HolderNote };

function readState(path: string): GuardState {
  try {
    // A folder that is a symbolic link counts as missing, so that nothing behind the link is changed.
    const bytes = lstatOrAbsent(dirname(path))?.isDirectory() === true ? readPlainFile(path) : undefined;
    if (bytes === undefined) return { is: 'free' };
    const note = parseNote(bytes.toString('utf8'));
    return note === undefined ? { is: 'unreadable' } : { is: 'held', note };
  } catch (error) {
    if (error instanceof UnsafeFileError) return { is: 'unreadable' };
    throw error;
  }
}

function heldByUnknown(path: string): Extract<GuardAnswer, { is: 'held' }> {
  return {
    is: 'held',
    by: { host: 'unknown', pid: 0, since: 'unknown', id: 'unknown' },
    note: `the guard file ${path} cannot be read, so the process that holds the lock is unknown; if no mediabatch uses this lock, remove the guard file`,
  };
}

function guardPath(lockPath: string): string {
  return join(dirname(lockPath), '.mediabatch', `${basename(lockPath)}.guard`);
}

function takeoverPath(path: string, deadId: string): string {
  return `${path.replace(/\.stale\.[0-9a-f]+$/, '')}.stale.${deadId}`;
}

async function prepareGuardPath(lockPath: string): Promise<string> {
  const path = guardPath(lockPath);
  const folder = dirname(path);
  await mkdir(folder).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error;
  });
  if (!(await lstat(folder)).isDirectory()) throw new UnsafeFileError(folder, 'a link or a file, not a folder');
  await ignoreItself(folder);
  return path;
}

function writeNote(note: HolderNote): Uint8Array {
  const { id, host, pid, since, boot, machine, namespace, started } = note;
  const fields = { mediabatch: 'guard', version: 1, id, host, pid, since, boot, machine, namespace, started };
  return Buffer.from(`${JSON.stringify(fields)}\n`);
}

function parseNote(text: string): HolderNote | undefined {
  const fields = parseJson(text);
  if (!isMap(fields) || fields.mediabatch !== 'guard' || fields.version !== 1) return undefined;
  const { id, host, pid, since, boot, machine, namespace, started } = fields;
  const texts = [id, host, since, boot ?? '', machine ?? '', namespace ?? '', started ?? ''];
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  // The guard's ID becomes part of a file name. A PID below 1 would make kill(2) address a process group.
  const isProcess = typeof pid === 'number' && Number.isSafeInteger(pid) && pid >= 1;
  if (!/^[0-9a-f]{16}$/.test(String(id)) || !isProcess) return undefined;
  return { id, host, pid, since, ...defined({ boot, machine, namespace, started }) } as HolderNote;
}

function holderOf({ host, pid, since, id }: HolderNote): Holder {
  return { host, pid, since, id };
}
