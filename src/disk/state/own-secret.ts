import { createHmac, randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { link, unlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { makeFolders } from '../fs/folders.ts';
import { hasNoLinks, isErrno, noFollow, orAbsent } from '../fs/plain-file.ts';
import { temporaryName, writeNewFile } from '../fs/replace.ts';

const fileName = 'key';
const form = /^[0-9a-f]{64}\n$/;

interface Own {
  /** State folder outside every working tree, for data that no commit may contain. */
  folder: string;
  secret: Buffer;
}

/**
 * Reads the secret of this user on this machine, which no commit can contain: it proves that this user wrote a file in
 * `.mediabatch/`. `undefined` if it was not created yet. Writes nothing.
 */
export function readOwnSecret(): Buffer | undefined {
  return findOwn()?.secret;
}

/** Returns the folder that contains the secret; `undefined` if the secret was not created yet. */
export function findOwnFolder(): string | undefined {
  return findOwn()?.folder;
}

/**
 * Returns the secret, creating it if missing; `undefined` if this user cannot store files, and so has no sealed files.
 */
export async function makeOwnSecret(): Promise<Buffer | undefined> {
  return (await makeOwn())?.secret;
}

/** Returns the folder of the secret, creating both if missing; `undefined` if this user cannot store files. */
export async function makeOwnFolder(): Promise<string | undefined> {
  return (await makeOwn())?.folder;
}

function findOwn(): Own | undefined {
  const folder = stateFolder();
  const secret = folder === undefined ? undefined : readSecret(join(folder, fileName));
  return folder === undefined || secret === undefined ? undefined : { folder, secret };
}

async function makeOwn(): Promise<Own | undefined> {
  const known = findOwn();
  const folder = stateFolder();
  if (known !== undefined || folder === undefined) return known;
  try {
    await makeFolders(folder, 0o700);
    await writeSecret(folder, join(folder, fileName));
  } catch (error) {
    // The folder is read-only, full, or owned by another user.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
  return findOwn();
}

/** Returns the folder for the state of programs, never a temporary one. `undefined` for a user without a home. */
export function stateFolder(): string | undefined {
  const name = 'mediabatch';
  const { XDG_STATE_HOME: given, LOCALAPPDATA: local } = process.env;
  if (given !== undefined && isAbsolute(given)) return join(given, name);
  const home = findHome();
  if (home === undefined) return undefined;
  switch (process.platform) {
    case 'win32':
      return join(local || join(home, 'AppData', 'Local'), name);
    case 'darwin':
      return join(home, 'Library', 'Application Support', name);
    default:
      return join(home, '.local', 'state', name);
  }
}

/** Returns the home folder; `undefined` for a user without a passwd entry. */
function findHome(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a new secret atomically, even if two runs do so at once. */
async function writeSecret(folder: string, path: string): Promise<void> {
  const temporary = join(folder, temporaryName('tmp'));
  try {
    await writeNewFile(temporary, Buffer.from(`${randomBytes(32).toString('hex')}\n`), 0o600);
    await link(temporary, path);
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return;
    if (!hasNoLinks(error)) throw error;
    await writeNewFile(path, Buffer.from(`${randomBytes(32).toString('hex')}\n`), 0o600);
  } finally {
    await orAbsent(unlink(temporary));
  }
}

/**
 * Reads a secret. Because a home folder may itself be a working tree, the file's modification time, to the nanosecond,
 * is part of the secret: a checkout gives a committed file another time.
 */
function readSecret(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | noFollow);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(fd, { bigint: true });
    if (!stats.isFile() || stats.size !== 65n || !isPrivate(stats)) return undefined;
    const text = readFileSync(fd, 'utf8');
    return form.test(text) ? createHmac('sha256', text).update(String(stats.mtimeNs)).digest() : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function isPrivate({ uid, mode }: { uid: bigint; mode: bigint }): boolean {
  return process.getuid === undefined || (uid === BigInt(process.getuid()) && (mode & 0o077n) === 0n);
}
