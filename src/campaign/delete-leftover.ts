import { lstat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UnsafeFileError } from '../contract/errors.ts';
import { syncFolder } from '../disk/fs/durable.ts';
import { isErrno, orAbsent } from '../disk/fs/plain-file.ts';
import { hashFile } from '../disk/outputs/hash-file.ts';
import { findOutputFile } from '../disk/outputs/output-path.ts';
import type { LeftoverFile } from './find-leftovers.ts';

/** Deletes a leftover that is still what was found. False: it is gone, or somebody has changed it since. */
export async function deleteLeftover(root: string, file: LeftoverFile): Promise<boolean> {
  const target = findOutputFile(root, file.path);
  if (target === undefined) return false;
  try {
    const before = await orAbsent(lstat(target));
    if (before === undefined || !before.isFile() || before.size !== file.bytes) return false;
    if (file.digests !== undefined) {
      const digest = await hashFile(target);
      if (digest === undefined || !file.digests.has(digest.sha256)) return false;
    }
    const after = await orAbsent(lstat(target));
    if (after === undefined || after.ino !== before.ino || after.dev !== before.dev) return false;
    await unlink(target);
    await syncFolder(dirname(target));
    return true;
  } catch (error) {
    if (error instanceof UnsafeFileError || isErrno(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}
