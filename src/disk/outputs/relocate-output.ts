import { unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { OutputTarget } from '../../contract/ports.ts';
import type { Output } from '../../lock/record.ts';
import { diskErrors } from '../fs/disk-errors.ts';
import { copyDurably, linkOrCopy, syncFolder } from '../fs/durable.ts';
import type { PacedDisk } from '../fs/paced-disk.ts';
import { isErrno, lstatOrAbsent } from '../fs/plain-file.ts';
import { type Kept, putInPlace } from '../fs/put-in-place.ts';
import { temporaryName } from '../fs/replace.ts';
import { hashFile } from './hash-file.ts';
import type { KeptFiles } from './kept-files.ts';
import { checkOutputPath, findOutputFolder, prepareOutputFolder } from './output-path.ts';
import type { SavedFiles } from './saved-files.ts';
import { knownExtensions } from './sniff.ts';

interface Relocation {
  target: OutputTarget;
  from: Output;
  /** Whether to remove the old name once the new one is durable, if the file was saved on this machine. */
  remove: boolean;
  disk: PacedDisk;
  saved: SavedFiles;
  kept?: Kept | undefined;
}

/** Puts the bytes of a local file under the target's name; `undefined` if the file is missing, changed or unusable. */
export async function relocateOutput(
  root: string,
  { target, from, remove: isUnwanted, disk, saved, kept }: Relocation,
): Promise<Output | undefined> {
  const path = `${target.save}${extname(from.path)}`;
  checkOutputPath(path);
  const found = (await findIntact(root, from)) ?? (await findKept(kept === 'beside' ? undefined : kept, from));
  if (found === undefined) return undefined;
  const { source, where } = found;
  if (path === from.path && where === 'in-place') return from;
  const isRemovable = where !== 'kept' && isUnwanted;
  const remove = isRemovable && saved.has(from.path, from.sha256); // I23
  const { folder, target: place } = await diskErrors(path, () => prepareOutputFolder(root, path));
  const temporary = join(folder, temporaryName('part'));
  try {
    await diskErrors(path, () => (remove ? linkOrCopy(source, temporary) : copyDurably(source, temporary)));
    // The link or copy is verified, because the source may have changed since it was checked.
    if ((await hashFile(temporary))?.sha256 !== from.sha256) {
      await unlink(temporary);
      return undefined;
    }
    await diskErrors(path, () =>
      putInPlace(temporary, place, { name: path, sha256: from.sha256, target, disk, saved, kept }),
    );
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  // `rename` does nothing if both names are the same file already, and leaves the temporary name.
  await unlink(temporary).catch(() => undefined);
  if (isRemovable && !remove && source !== place) {
    target.notice(`${from.path} stays next to ${path}: it is on record, but was not saved from this machine`);
  }
  if (remove && source !== place) {
    await diskErrors(from.path, async () => {
      // Another output may have taken the old name by now, so only exactly the moved file is removed.
      if (!isStill(source, found)) return;
      await unlink(source);
      await syncFolder(dirname(source));
    });
  }
  return { ...from, path };
}

interface Found {
  source: string;
  inode: number;
  device: number;
  /** `aside`: next to its own path, renamed to make room for another output. */
  where: 'in-place' | 'aside' | 'kept';
}

/** Finds the file at its own path, or next to it under the name that `putInPlace` gives files that it renames. */
async function findIntact(root: string, from: Output): Promise<Found | undefined> {
  const names = checkOutputPath(from.path);
  const extension = extname(from.path);
  if (!knownExtensions.includes(extension)) return undefined;
  const folder = findOutputFolder(root, names.slice(0, -1));
  if (folder === undefined) return undefined;
  const stem = basename(from.path, extension);
  const asideStem = `${stem}.changed-${from.sha256.slice(0, 8)}`;
  const candidates = [stem, asideStem, ...[2, 3, 4, 5].map((number) => `${asideStem}-${number}`)];
  for (const candidate of candidates) {
    const source = join(folder, `${candidate}${extension}`);
    const stats = lstatOrAbsent(source);
    if (stats === undefined || !(await hasBytes(source, from))) continue;
    return { source, inode: stats.ino, device: stats.dev, where: candidate === stem ? 'in-place' : 'aside' };
  }
  return undefined;
}

/**
 * Finds a file that a newer output has replaced. It stays in the folder of kept files, because it may be needed again.
 */
async function findKept(kept: KeptFiles | undefined, from: Output): Promise<Found | undefined> {
  const source = await kept?.find(from);
  const stats = source === undefined ? undefined : lstatOrAbsent(source);
  if (source === undefined || stats === undefined) return undefined;
  return { source, inode: stats.ino, device: stats.dev, where: 'kept' };
}

async function hasBytes(source: string, from: Output): Promise<boolean> {
  try {
    const found = await hashFile(source);
    return found?.sha256 === from.sha256 && found.bytes === from.bytes;
  } catch (error) {
    if (error instanceof UnsafeFileError || isErrno(error, 'EACCES', 'EPERM', 'EIO')) return false;
    throw error;
  }
}

function isStill(source: string, { inode, device }: Found): boolean {
  const stats = lstatOrAbsent(source);
  return stats !== undefined && stats.ino === inode && stats.dev === device;
}
