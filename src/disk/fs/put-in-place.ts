import { link, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { OutputTarget } from '../../contract/ports.ts';
import { messageOf } from '../../ground/values.ts';
import { type Digest, hashFile } from '../outputs/hash-file.ts';
import type { KeptFiles } from '../outputs/kept-files.ts';
import type { SavedFiles } from '../outputs/saved-files.ts';
import { renameFile } from './durable.ts';
import type { PacedDisk } from './paced-disk.ts';
import { hasNoLinks, isErrno, lstatOrAbsent } from './plain-file.ts';

/**
 * Renames a finished temporary file into place. An existing file with the same bytes is replaced. Another existing file
 * is replaced, and kept, only if the target may replace it and it was saved on this machine; otherwise it is renamed
 * with a digest in its name, and reported. If several machines save (`kept: 'beside'`), a replaceable file is also
 * renamed, without a notice.
 */
export async function putInPlace(temporary: string, path: string, file: Finished): Promise<void> {
  const { name, sha256, target, disk, saved, kept } = file;
  const old = await hashFile(path);
  const isSame = old?.sha256 === sha256;
  if (old !== undefined && !isSame) {
    const isRecorded = target.replaces.includes(old.sha256);
    const isReplaced = kept !== 'beside' && isRecorded && saved.has(name, old.sha256); // I23
    if (isReplaced) {
      await keepReplaced(path, old, { target, kept });
    } else {
      const why = isRecorded
        ? 'is on record, but was not saved from here'
        : 'was not made by this step or was changed since';
      const aside = await putAside(path, old.sha256);
      const isExpected = kept === 'beside' && isRecorded;
      if (!isExpected)
        target.notice(`${name} ${why}; it is kept as ${name.slice(0, -basename(name).length)}${basename(aside)}`);
    }
  }
  // A file with identical bytes may belong to the user, and is not recorded as saved here. A new file is recorded
  // first, so that after a kill in between it counts as saved here.
  if (!isSame) await saved.note(name, sha256);
  await disk.rename(temporary, path);
  await disk.syncFolder(dirname(path));
}

/** Destination of a paid file that a newer one replaces. */
export type Kept = KeptFiles | 'beside';

interface Finished {
  /** Name relative to the output folder, with its extension. */
  name: string;
  sha256: string;
  target: OutputTarget;
  disk: PacedDisk;
  saved: SavedFiles;
  kept?: Kept | undefined;
}

/**
 * Keeps the paid file before the new one replaces it: next to it if it cannot be moved to the folder, whose place
 * something from a branch may occupy. If the disk cannot hold both, the new file is saved all the same.
 */
async function keepReplaced(
  path: string,
  digest: Digest,
  { target, kept }: { target: OutputTarget; kept: KeptFiles | undefined },
): Promise<void> {
  try {
    await kept?.keep(path, digest);
  } catch (error) {
    if (!isDisk(error)) throw error;
    const aside = await putAside(path, digest.sha256).catch((worse: unknown) => {
      if (!isDisk(worse)) throw worse;
    });
    const where = aside === undefined ? 'is replaced, and could not be kept' : `is kept as ${basename(aside)}`;
    target.notice(`the file that was at ${path} ${where}: ${messageOf(error)}`);
  }
}

function isDisk(error: unknown): boolean {
  return error instanceof UnsafeFileError || (error as NodeJS.ErrnoException).code !== undefined;
}

/** Renames a file to a free name. Never overwrites another file: `link` fails if the name is taken, unlike `rename`. */
async function putAside(path: string, sha256: string): Promise<string> {
  const extension = extname(path);
  const stem = join(dirname(path), basename(path, extension));
  for (let number = 1; ; number++) {
    const aside = `${stem}.changed-${sha256.slice(0, 8)}${number === 1 ? '' : `-${number}`}${extension}`;
    if ((await hashFile(aside))?.sha256 === sha256) return aside;
    if (await moveToFreeName(path, aside)) return aside;
  }
}

async function moveToFreeName(path: string, aside: string): Promise<boolean> {
  try {
    await link(path, aside);
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    if (!hasNoLinks(error)) throw error;
    // Without hard links on this file system, only a check keeps a rename from replacing another file.
    if (lstatOrAbsent(aside) !== undefined) return false;
    await renameFile(path, aside);
    return true;
  }
  await unlink(path);
  return true;
}
