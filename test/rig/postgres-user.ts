import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  constants,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { renameFile } from '../../src/disk/fs/durable.ts';

/** Who a server runs as, and where its data and programs are: PostgreSQL refuses root. */
export interface ServerHome {
  data: string;
  programs: string;
  /** Absent: as this process. */
  user?: { uid: number; gid: number };
}

/** Where files survive a restart of the machine, and any user may be given a folder. */
const common = '/var/tmp';

/**
 * Finds the user of the server, and where its data and programs are. Root gives it another user by itself: `postgres`
 * if there is one, else `nobody`. What lies below a folder that this user cannot enter goes to /var/tmp, under a name
 * made of the folder's.
 */
export async function prepareHome(data: string, programs: string): Promise<ServerHome> {
  if (process.getuid?.() !== 0) return { data, programs };
  const user = readUser('postgres') ?? readUser('nobody');
  if (user === undefined) {
    throw new Error('PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody');
  }
  const home: ServerHome = { data: isOpenFor(dirname(data)) ? data : apart(data), programs, user };
  if (!isOpenFor(programs)) home.programs = await copyPrograms(programs);
  prepareFolder(home.data, user);
  return home;
}

function apart(data: string): string {
  const digest = createHash('sha256').update(resolve(data)).digest('hex').slice(0, 16);
  return join(common, `mediabatch-engine-${digest}`);
}

/** A folder for this user alone. Somebody else's, or a link, in its place is refused. */
function prepareFolder(path: string, { uid, gid }: { uid: number; gid: number }): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const stats = lstatSync(path);
  if (!stats.isDirectory() || (stats.uid !== 0 && stats.uid !== uid)) {
    throw new Error(`${path} is not a folder of this user`);
  }
  chownSync(path, uid, gid);
  chmodSync(path, 0o700);
}

/** A copy that is there is whole: it gets its name at the end. */
async function copyPrograms(programs: string): Promise<string> {
  const version = basename(dirname(programs));
  const digest = createHash('sha256').update(programs).digest('hex').slice(0, 8);
  const copy = join(common, `mediabatch-postgres-${version}-${digest}`);
  if (isRoots(copy)) return copy;
  const temporary = mkdtempSync(join(common, 'mediabatch-postgres-'));
  try {
    cpSync(programs, temporary, { recursive: true, verbatimSymlinks: true });
    openForAll(temporary);
    await renameFile(temporary, copy);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Somebody else was faster, or there is no room.
    if (!isRoots(copy)) throw error;
  }
  return copy;
}

/** Anybody can give a folder a name there; what is run from it must be root's. */
function isRoots(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (stats.isDirectory() && stats.uid === 0) return true;
  throw new Error(`${path} is not a folder of root`);
}

/** For whoever installed with a umask that keeps others out. */
function openForAll(folder: string): void {
  for (const name of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    const path = join(folder, name);
    const { mode } = lstatSync(path);
    if ((mode & constants.S_IFMT) !== constants.S_IFLNK) chmodSync(path, mode | (mode & 0o100 ? 0o055 : 0o044));
  }
}

/** Whether users other than root can enter it, and every folder above it. */
function isOpenFor(path: string): boolean {
  for (let one = resolve(path); ; one = dirname(one)) {
    const stats = statSync(one, { throwIfNoEntry: false });
    if (stats !== undefined && (stats.mode & 0o001) === 0) return false;
    if (one === dirname(one)) return true;
  }
}

function readUser(name: string): { uid: number; gid: number } | undefined {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((one) => one.startsWith(`${name}:`));
    const [, , uid, gid] = line?.split(':') ?? [];
    return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
  } catch {
    return undefined;
  }
}
