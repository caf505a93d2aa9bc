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
  /** If true, removes the old file once the new path is durable. Removes only a file that this machine saved. */
  remove: boolean;
  saved: SavedFiles;
  kept?: Kept | undefined;
}

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
    // The copy is verified, because the source may have changed since the check.
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
  // If both names are hard links to one file, `rename` does not remove the temporary name.
  await unlink(temporary).catch(() => undefined);
  if (isRemovable && !remove && source !== place) {
    target.notice(`${from.path} was not removed: the file is on record, but was not saved by this machine`);
  }
  if (remove && source !== place) {
    await diskErrors(from.path, async () => {
      // Another output may have replaced the file meanwhile, so removes it only if it is still the copied one.
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
  /** `aside`: `putInPlace` renamed the file in its folder. `kept`: the file is in the folder of retained files. */
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
 * Renames a finished temporary file to its final path. An existing file with the same bytes is replaced. A different
 * file is replaced and retained if `target.replaces` contains its digest and this machine saved it. Any other file gets
 * a name with its digest, and a notice is reported. If several machines save (`kept: 'beside'`), a replaceable file is
 * renamed without a notice.
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
        target.notice(`${name} ${why}; it was renamed to ${name.slice(0, -basename(name).length)}${basename(aside)}`);
    }
  }
  // An existing file with the same bytes may belong to the user, so it is not recorded in `saved`. A new file is
  // recorded before it is renamed, so that the record is complete after a kill.
  if (!isSame) await saved.note(name, sha256);
  await renameFile(temporary, path);
  await syncFolder(dirname(path));
}

/** Folder to which a paid file moves when a newer file replaces it. `beside`: the file is renamed in its own folder. */
export type Kept = KeptFiles | 'beside';

interface Finished {
  name: string;
  sha256: string;
  target: OutputTarget;
  saved: SavedFiles;
  kept?: Kept | undefined;
}

/**
 * Retains a paid file before a new file replaces it. If the folder of retained files cannot be used, the paid file is
 * renamed in place. If the disk is full, the paid file is lost, and the loss is reported.
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
    const where = aside === undefined ? 'was replaced, and could not be retained' : `was renamed to ${basename(aside)}`;
    target.notice(`the earlier file at ${path} ${where}: ${messageOf(error)}`);
  }
}

function isDisk(error: unknown): boolean {
  return error instanceof UnsafeFileError || (error as NodeJS.ErrnoException).code !== undefined;
}

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
    // On a file system without hard links, only this check prevents that `rename` replaces a file.
    if (lstatOrAbsent(aside) !== undefined) return false;
    await renameFile(path, aside);
    return true;
  }
  await unlink(path);
  return true;
}

/**
 * Returns the digest of a delivered file, or `undefined` if the file is missing. Throws `OutputError` for a link in the
 * path.
 */
export async function inspectDelivery(root: string, name: string): Promise<Digest | undefined> {
  let folder = root;
  for (const part of checkOutputPath(name).slice(0, -1)) {
    folder = join(folder, part);
    const stats = lstatOrAbsent(folder);
    if (stats === undefined) return undefined;
    if (!stats.isDirectory()) throw new OutputError('path', `${folder} exists but is not a folder`);
  }
  const place = findOutputFile(root, name);
  return place === undefined ? undefined : hashFile(place);
}

/**
 * Copies a file to `name` below `root` and replaces an existing file. If the source does not match `sha256`, copies
 * nothing and returns false. A later copy to `name` replaces the temporary file of an interrupted copy.
 */
export async function deliverFile(
  source: string,
  { root, name, sha256 }: { root: string; name: string; sha256: string },
): Promise<boolean> {
  const { folder, target } = await prepareOutputFolder(root, name);
  // The temporary name is a hash of `name`, because two files with the same bytes may be copied at the same time.
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
