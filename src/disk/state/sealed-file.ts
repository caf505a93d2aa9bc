import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { makeFolders } from '../fs/folders.ts';
import { noFollow, readPlainFile } from '../fs/plain-file.ts';
import { createWhole, replaceFile } from '../fs/replace.ts';
import { hasRealFolders, prepareStateFolder } from './state-folder.ts';

/**
 * Each file in `.mediabatch/` begins with a seal: an HMAC with a secret of this user. A file without a valid seal is
 * ignored, because a merged branch could add files to this folder.
 */
const beginning = 'mediabatch-sealed 1 ';
const headLength = beginning.length + 64 + 1;

/**
 * Reads the content of a file such as `durations.json` or `bodies/KEY.json`. Returns `undefined` if the file is missing
 * or another user wrote it. Throws `UnsafeFileError` for a link or a device.
 */
export async function readSealedFile(
  state: string,
  name: string,
  { mostBytes, secret = findOwn()?.secret }: { mostBytes: number; secret?: Buffer | undefined },
): Promise<Buffer | undefined> {
  if (secret === undefined || !hasRealFolders(state, folderOf(name))) return undefined;
  const bytes = readPlainFile(join(state, name), mostBytes + headLength);
  return bytes && contentOf(bytes, name, secret);
}

/** Returns false, and writes nothing, if the file cannot be sealed. */
export async function writeSealedFile(state: string, name: string, content: string | Uint8Array): Promise<boolean> {
  const { secret } = (await makeOwn()) ?? {};
  if (secret === undefined) return false;
  await prepareStateFolder(state, folderOf(name));
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  await replaceFile(join(state, name), [Buffer.from(headOf(secret, name, bytes)), bytes]);
  return true;
}

/** Returns the seal in hex. Only this user can compute the seal of a content and name. */
export function sealOf(secret: Buffer, name: string, content: string | Uint8Array): string {
  return createHmac('sha256', secret).update(`${name}\0`).update(content).digest('hex');
}

function contentOf(bytes: Buffer, name: string, secret: Buffer): Buffer | undefined {
  const content = bytes.subarray(headLength);
  const head = Buffer.from(headOf(secret, name, content));
  // I23
  return bytes.length >= headLength && timingSafeEqual(head, bytes.subarray(0, headLength)) ? content : undefined;
}

function headOf(secret: Buffer, name: string, content: Uint8Array): string {
  return `${beginning}${sealOf(secret, name, content)}\n`;
}

function folderOf(name: string): string {
  return name.split('/').slice(0, -1).join('/');
}

const fileName = 'key';
const form = /^[0-9a-f]{64}\n$/;

interface Own {
  /** This user's state folder, outside every working tree. */
  folder: string;
  secret: Buffer;
}

/** Finds this user's state folder and secret. Returns `undefined` if folder or secret is missing. Writes nothing. */
export function findOwn(): Own | undefined {
  const folder = stateFolder();
  const secret = folder === undefined ? undefined : readSecret(join(folder, fileName));
  return folder === undefined || secret === undefined ? undefined : { folder, secret };
}

/**
 * Finds this user's state folder and secret, and creates what is missing. Returns `undefined` if this user cannot store
 * files.
 */
export async function makeOwn(): Promise<Own | undefined> {
  const known = findOwn();
  const folder = stateFolder();
  if (known !== undefined || folder === undefined) return known;
  try {
    await makeFolders(folder, 0o700);
    // If two runs create a secret at once, both use the secret that was created first.
    await createWhole(join(folder, fileName), Buffer.from(`${randomBytes(32).toString('hex')}\n`), 0o600);
  } catch (error) {
    // The state folder is read-only, its disk is full, or another user owns it.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
  return findOwn();
}

/**
 * Returns the user's state folder of mediabatch, which is never a temporary folder. Returns `undefined` if the user has
 * no home folder.
 */
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

function findHome(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads the secret. The secret includes the modification time of its file, in ns. A secret that was committed to git is
 * useless, because a checkout sets another time.
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
