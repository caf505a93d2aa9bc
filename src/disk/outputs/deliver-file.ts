import { unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OutputError } from '../../contract/errors.ts';
import { copyDurably, renameFile, syncFolder } from '../fs/durable.ts';
import { lstatOrAbsent, orAbsent } from '../fs/plain-file.ts';
import { type Digest, digestOf, hashFile } from './hash-file.ts';
import { checkOutputPath, findOutputFile, prepareOutputFolder } from './output-path.ts';

/** Returns the digest of a delivered file; `undefined` if missing. Throws `OutputError` for a link in its path. */
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
 * Copies a file to a name below a folder, and replaces an existing file there. The copy is verified before it gets that
 * name; returns false if its bytes are not the saved ones. The temporary file of an interrupted copy is replaced by the
 * next copy to that name.
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
