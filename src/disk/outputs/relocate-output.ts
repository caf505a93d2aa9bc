import { link, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { OutputError, UnsafeFileError } from '../../contract/errors.ts';
import type { OutputTarget } from '../../contract/ports.ts';
import { messageOf } from '../../ground/values.ts';
import type { Output } from '../../lock/record.ts';
import { copyDurably, linkOrCopy, renameFile, syncFolder } from '../fs/durable.ts';
import { hasNoLinks, isErrno, lstatOrAbsent, orAbsent } from '../fs/plain-file.ts';
import { temporaryName } from '../fs/replace.ts';
import { type Digest, digestOf, hasBytes, hashFile } from './hash-file.ts';
import type { KeptFiles } from './kept-files.ts';
import { checkOutputPath, diskErrors, findOutputFile, findOutputFolder, prepareOutputFolder } from './output-path.ts';
import type { SavedFiles } from './saved-files.ts';
import { knownExtensions } from './sniff.ts';

interface Relocation {
  target: OutputTarget;
  from: Output;
  /** Whether to remove the old name after the new name is durable, if this machine saved the file. */
  remove: boolean;
  saved: SavedFiles;
  kept?: Kept | undefined;
}

/** Links or copies an output to the target's path; `undefined` if the file is missing or changed. */
export async function relocateOutput(
  root: string,
  { target, from, remove: isUnwanted, saved, kept }: Relocation,
): Promise<Output | undefined> {
  const path = `${target.save}${extname(from.path)}`;
  checkOutputPath(path);
  const found = (await findIntact(root, from)) ?? (await findKept(kept === 'beside' ? undefined : kept, from));
  if (found === undefined) return undefined;
  const { source, where } = found;
  if (path === from.path && where === 'in-place') return from;
  const isRemovable = where !== 'kept' && isUnwanted;
  const remove = isRemovable && saved.has(from.path, from.sha256); // I23 (moved)
  const { folder, target: place } = await diskErrors(path, () => prepareOutputFolder(root, path));
  const temporary = join(folder, temporaryName('part'));
  try {
    await diskErrors(path, () => (remove ? linkOrCopy(source, temporary) : copyDurably(source, temporary)));
    // Verified, because the source may have changed since the check.
    if ((await hashFile(temporary))?.sha256 !== from.sha256) {
      await unlink(temporary);
      return undefined;
    }
    await diskErrors(path, () =>
      putInPlace(temporary, place, { name: path, sha256: from.sha256, target, saved, kept }),
    );
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  // If both names are links to one file, `rename` leaves the temporary name.
  await unlink(temporary).catch(() => undefined);
  if (isRemovable && !remove && source !== place) {
    target.notice(`${from.path} stays next to ${path}: it is on record, but was not saved from this machine`);
  }
  if (remove && source !== place) {
    await diskErrors(from.path, async () => {
      // Another output may have replaced the file meanwhile, so only the moved file is removed.
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
  /** `aside`: next to its own path, where `putInPlace` renamed it. */
  where: 'in-place' | 'aside' | 'kept';
}

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

async function findKept(kept: KeptFiles | undefined, from: Output): Promise<Found | undefined> {
  const source = await kept?.find(from);
  const stats = source === undefined ? undefined : lstatOrAbsent(source);
  if (source === undefined || stats === undefined) return undefined;
  return { source, inode: stats.ino, device: stats.dev, where: 'kept' };
}

function isStill(source: string, { inode, device }: Found): boolean {
  const stats = lstatOrAbsent(source);
  return stats !== undefined && stats.ino === inode && stats.dev === device;
}

/**
 * Renames a finished temporary file into place. Replaces an existing file with the same bytes. Replaces and keeps
 * another file if the target may replace it and this machine saved it. Renames any other file to a name with its digest,
 * with a notice. If several machines save (`kept: 'beside'`), a replaceable file is also renamed, without a notice.
 */
export async function putInPlace(temporary: string, path: string, file: Finished): Promise<void> {
  const { name, sha256, target, saved, kept } = file;
  const old = await hashFile(path);
  const isSame = old?.sha256 === sha256;
  if (old !== undefined && !isSame) {
    const isRecorded = target.replaces.includes(old.sha256);
    const isReplaced = kept !== 'beside' && isRecorded && saved.has(name, old.sha256); // I23 (replaced)
    if (isReplaced) {
      await keepReplaced(path, old, { target, kept });
    } else {
      const why = isRecorded
        ? 'is an earlier output in the lock, but was not saved by this machine'
        : 'was not made by this step or was changed since';
      const aside = await putAside(path, old.sha256);
      const isExpected = kept === 'beside' && isRecorded;
      if (!isExpected)
        target.notice(`${name} ${why}; it is kept as ${name.slice(0, -basename(name).length)}${basename(aside)}`);
    }
  }
  // A file with the same bytes may be the user's, and is not recorded. A new file is recorded first, so that the record
  // is complete after a kill.
  if (!isSame) await saved.note(name, sha256);
  await renameFile(temporary, path);
  await syncFolder(dirname(path));
}

/** Where a paid file is kept that a newer file replaces. */
export type Kept = KeptFiles | 'beside';

interface Finished {
  /** Name relative to the output folder, with its extension. */
  name: string;
  sha256: string;
  target: OutputTarget;
  saved: SavedFiles;
  kept?: Kept | undefined;
}

/**
 * Keeps a paid file before a new file replaces it: next to the new file if the folder of kept files cannot be used. If
 * the disk is full, the paid file is lost, and reported.
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

/** Renames a file to a free name. Never overwrites a file: unlike `rename`, `link` fails if the name exists. */
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
    // Without hard links, only a check prevents that the rename replaces a file.
    if (lstatOrAbsent(aside) !== undefined) return false;
    await renameFile(path, aside);
    return true;
  }
  await unlink(path);
  return true;
}

/** Returns the digest of a delivered file; `undefined` if it is missing. Throws `OutputError` for a link in its path. */
export async function lookAtDelivery(root: string, name: string): Promise<Digest | undefined> {
  let folder = root;
  for (const part of checkOutputPath(name).slice(0, -1)) {
    folder = join(folder, part);
    const stats = lstatOrAbsent(folder);
    if (stats === undefined) return undefined;
    if (!stats.isDirectory()) throw new OutputError('path', `${folder} is in the way: it is not a folder`);
  }
  const place = findOutputFile(root, name);
  return place === undefined ? undefined : hashFile(place);
}

/**
 * Copies a file to `name` below `root`, replacing a file there. Returns false, without the copy, if its bytes have
 * another digest. The next copy to `name` replaces the temporary file of an interrupted copy.
 */
export async function deliverFile(
  source: string,
  { root, name, sha256 }: { root: string; name: string; sha256: string },
): Promise<boolean> {
  const { folder, target } = await prepareOutputFolder(root, name);
  // Named after the target, because files with the same bytes may be copied into the folder at the same time.
  const temporary = join(folder, `.mediabatch-${digestOf(Buffer.from(name)).sha256.slice(0, 16)}.part`);
  await orAbsent(unlink(temporary));
  await copyDurably(source, temporary);
  if ((await hashFile(temporary))?.sha256 !== sha256) {
    await unlink(temporary);
    return false;
  }
  await renameFile(temporary, target);
  await syncFolder(dirname(target));
  return true;
}
