import { lstat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OutputError, UnsafeFileError } from '../contract/errors.ts';
import type { Leftover } from '../contract/leftovers.ts';
import { syncFolder } from '../disk/fs/durable.ts';
import { listFolder } from '../disk/fs/folders.ts';
import { isErrno, orAbsent } from '../disk/fs/plain-file.ts';
import { type Digest, hashFile } from '../disk/outputs/hash-file.ts';
import { checkOutputPath, findOutputFile, findOutputFolder } from '../disk/outputs/output-path.ts';
import type { SavedFiles } from '../disk/outputs/saved-files.ts';
import { kinds } from '../kinds/index.ts';
import type { Lock } from '../lock/record.ts';
import { withoutExtension } from '../plan/select/names.ts';
import type { Situation } from '../plan/situation/situation.ts';

/** An output and its purchase. A job with several outputs was charged once. */
interface PaidOutput {
  address: string;
  /** Path as recorded, relative to the output folder. */
  path: string;
  jobId?: string;
  /** Omitted when the lock has no charge. */
  credits?: number;
}

export interface LeftoverFile extends Leftover {
  /** Digests of this path in the lock. Omitted for a broken download. */
  digests?: ReadonlySet<string>;
}

export interface Leftovers {
  files: LeftoverFile[];
  /** Unowned files that differ from the purchase: they may contain edits. */
  kept: { path: string; why: string }[];
}

export interface OtherLock {
  lock: Lock;
  /** Folder of the other campaign relative to the folder of this one: empty, or ends in `/`. */
  prefix: string;
}

export interface LeftoverFacts {
  situation: Situation;
  others: readonly OtherLock[];
  /**
   * Files that were saved on this machine. The lock alone is no proof, because a line of it can name any file of the
   * tree with its digest.
   */
  saved: Pick<SavedFiles, 'has'>;
  now: number;
}

/**
 * Age in ms from which a partial file is a broken download. A download in progress, perhaps of another campaign of
 * this folder, has written more recently.
 */
export const brokenAfterMs = 3_600_000;
const notSavedHere =
  'the lock names it, but nothing here shows that mediabatch saved it; delete it yourself if it is not wanted';
const partialName = /^\.mediabatch-[0-9a-f]{16}\.part$/;

/**
 * Finds local files that no step of the manifest owns: outputs of earlier purchases and of removed steps, and remains
 * of broken downloads. Finds only files that the lock names, with the digest in the lock, that were saved on this
 * machine; never follows a symbolic link.
 */
export async function findLeftovers(root: string, facts: LeftoverFacts): Promise<Leftovers> {
  const { situation, others, saved, now } = facts;
  const { lock } = situation;
  const isOwned = makeOwner(situation, others);
  const found: Leftovers = { files: [], kept: [] };
  const paid = findPaidOutputs(lock);
  for (const [path, { digests, address }] of recordedFiles(lock)) {
    if (isOwned(path)) continue;
    const paidOf = (sha256: string) => paid.get(sha256);
    await addOutput(found, path, { root, address, digests, saved, paidOf });
  }
  found.files.push(...(await findPartials(root, situation, now)));
  found.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return found;
}

/** Adds an existing output to the deletable or to the changed files. */
export async function addOutput(
  found: Leftovers,
  path: string,
  known: {
    root: string;
    address: string;
    digests: ReadonlySet<string>;
    saved: LeftoverFacts['saved'];
    paidOf(sha256: string): Pick<PaidOutput, 'jobId' | 'credits'> | undefined;
  },
): Promise<void> {
  const { root, address, digests, saved, paidOf } = known;
  const state = await lookAtLeftover(root, path, { digests, saved });
  if (state === 'absent') return;
  if (typeof state === 'string') found.kept.push({ path, why: state });
  else {
    const { bytes, sha256 } = state;
    found.files.push({ path, bytes, is: 'output', address, digests, ...chargeOf(paidOf(sha256)) });
  }
}

/** Every file that the lock names, with all its recorded digests, because a path can have been used more than once. */
function recordedFiles(lock: Lock): Map<string, { digests: Set<string>; address: string }> {
  const files = new Map<string, { digests: Set<string>; address: string }>();
  for (const { address, purchases } of lock.steps.values()) {
    for (const { path, sha256, edited } of purchases.flatMap(({ outputs }) => outputs ?? [])) {
      const known = files.get(path);
      // A file that was edited by hand cannot be downloaded again.
      const digests = edited === true ? [] : [sha256];
      if (known === undefined) files.set(path, { digests: new Set(digests), address });
      else for (const digest of digests) known.digests.add(digest);
    }
  }
  return files;
}

/** Form of a path for comparison: names are compared without case, as in some file systems. */
export function samePath(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Returns paths on record in other campaigns of this folder, relative to this one. */
export function pathsOfOthers(others: readonly OtherLock[]): string[] {
  return others.flatMap(({ lock, prefix }) =>
    [...recordedFiles(lock).keys()].map((path) => samePath(`${prefix}${path}`)),
  );
}

/**
 * Returns a function that checks whether a path is owned: by a step whose file is there, that would save there, or
 * that uploads it; or by another campaign of this folder.
 */
function makeOwner({ matches }: Situation, others: readonly OtherLock[]): (path: string) => boolean {
  const same = samePath;
  const paths = new Set(pathsOfOthers(others));
  const stems = new Set<string>();
  const listStems: string[] = [];
  for (const { step, purchase } of matches) {
    const outputs = purchase?.outputs ?? [];
    for (const output of outputs) paths.add(same(output.path));
    if (step.file !== undefined) paths.add(same(step.file.path));
    // Until the step has its own file, the file at its path may belong to it.
    if (step.save === '' || (purchase?.state === 'done' && outputs.length > 0)) continue;
    stems.add(same(step.save));
    if (kinds[step.kind]?.parts !== undefined) listStems.push(same(`${step.save}-`));
  }
  return (given) => {
    const path = same(given);
    const stem = withoutExtension(path);
    if (paths.has(path) || stems.has(stem)) return true;
    return listStems.some((start) => stem.startsWith(start) && /^\d+$/.test(stem.slice(start.length)));
  };
}

/** Returns the digest of a deletable file (plain, unchanged, saved on this machine), or why the file is kept. */
async function lookAtLeftover(
  root: string,
  path: string,
  { digests, saved }: { digests: ReadonlySet<string>; saved: LeftoverFacts['saved'] },
): Promise<Digest | 'absent' | string> {
  try {
    checkOutputPath(path);
    const target = findOutputFile(root, path);
    const digest = target === undefined ? undefined : await hashFile(target);
    if (digest === undefined) return 'absent';
    if (!digests.has(digest.sha256)) return 'it was changed after it was saved';
    return saved.has(path, digest.sha256) ? digest : notSavedHere; // I23
  } catch (error) {
    if (error instanceof UnsafeFileError) return 'it is not a plain file';
    if (error instanceof OutputError) return error.message;
    if (isErrno(error, 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP')) return 'absent';
    if (isErrno(error, 'EACCES', 'EPERM', 'EIO')) return 'it cannot be read';
    throw error;
  }
}

/** Finds partial downloads, only in folders where this campaign saves. */
async function findPartials(root: string, { written, lock }: Situation, now: number): Promise<LeftoverFile[]> {
  const paths = [...recordedFiles(lock).keys(), ...written.steps.map(({ save }) => save)].filter((path) => path !== '');
  const folders = new Set(paths.filter(isAllowed).map((path) => path.split('/').slice(0, -1).join('/')));
  const found: LeftoverFile[] = [];
  for (const name of folders) {
    const folder = findOutputFolder(root, name === '' ? [] : name.split('/'));
    if (folder === undefined) continue;
    for (const { name: entry } of await listFolder(folder)) {
      if (!partialName.test(entry)) continue;
      const stats = await orAbsent(lstat(join(folder, entry)));
      if (stats === undefined || !stats.isFile() || now - stats.mtimeMs < brokenAfterMs) continue;
      found.push({ path: name === '' ? entry : `${name}/${entry}`, bytes: stats.size, is: 'partial' });
    }
  }
  return found;
}

function isAllowed(path: string): boolean {
  try {
    return checkOutputPath(path).length > 0;
  } catch (error) {
    if (error instanceof OutputError) return false;
    throw error;
  }
}

/** Deletes an unchanged leftover. Returns false if the file is gone or was changed since it was found. */
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

/** Every recorded output, by SHA-256 (hex). Of several outputs with the same bytes, one is returned. */
export function findPaidOutputs(lock: Lock): Map<string, PaidOutput> {
  const paid = new Map<string, PaidOutput>();
  for (const record of lock.steps.values()) {
    for (const { jobId, credits, outputs = [] } of record.purchases) {
      for (const { path, sha256 } of outputs) {
        if (paid.has(sha256)) continue;
        const charge = { ...(jobId !== undefined && { jobId }), ...(credits !== undefined && { credits }) };
        paid.set(sha256, { address: record.address, path, ...charge });
      }
    }
  }
  return paid;
}

/** The fields of a paid output that a list of files shows. */
export function chargeOf(
  paid: Pick<PaidOutput, 'jobId' | 'credits'> | undefined,
): Pick<PaidOutput, 'jobId' | 'credits'> {
  const { jobId, credits } = paid ?? {};
  return { ...(credits !== undefined && { credits }), ...(jobId !== undefined && { jobId }) };
}
