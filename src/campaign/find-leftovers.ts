import { lstat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OutputError, UnsafeFileError } from '../contract/errors.ts';
import type { Leftover, RemoteRecord } from '../contract/leftovers.ts';
import { syncFolder } from '../disk/fs/durable.ts';
import { listFolder } from '../disk/fs/folders.ts';
import { isErrno, orAbsent } from '../disk/fs/plain-file.ts';
import { inspectOutput } from '../disk/outputs/check-outputs.ts';
import { type Digest, hashFile } from '../disk/outputs/hash-file.ts';
import type { KeptFiles } from '../disk/outputs/kept-files.ts';
import { checkOutputPath, findOutputFile, findOutputFolder } from '../disk/outputs/output-path.ts';
import type { SavedFiles } from '../disk/outputs/saved-files.ts';
import { defined, groupBy } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import { isOutputPath } from '../lock/check-line.ts';
import type { Job, Lock } from '../lock/record.ts';
import { isJob } from '../lock/sends.ts';
import { findOrphans } from '../plan/rows/orphans.ts';
import { withoutExtension } from '../plan/select/names.ts';
import type { Match } from '../plan/situation/find-purchases.ts';
import type { Situation } from '../plan/situation/situation.ts';
import type { PresentFiles } from '../report/status/status.ts';

export interface LeftoverFile extends Leftover {
  digests?: ReadonlySet<string>;
}

export interface Leftovers {
  files: LeftoverFile[];
  kept: { path: string; why: string }[];
}

export interface OtherLock {
  lock: Lock;
  /** Path from this campaign's folder to the other campaign's folder. Empty, or ends in `/`. */
  prefix: string;
}

interface LeftoverFacts {
  situation: Situation;
  others: readonly OtherLock[];
  /** Files that mediabatch saved on this machine. A lock alone is not evidence of this: it could name any file. */
  saved: Pick<SavedFiles, 'has'>;
  now: number;
}

/** Age from which a partial file counts as left over from an interrupted download. */
const brokenAfterMs = 3_600_000;
const notSavedHere =
  'the lock names the file, but this machine has no record that mediabatch saved it; delete the file yourself if you do not need it';
const partialName = /^\.mediabatch-[0-9a-f]{16}\.part$/;

/**
 * Finds downloaded files that no step refers to, and partial files of interrupted downloads. Includes only files that
 * mediabatch saved on this machine and whose digest is in the lock. Follows no links.
 */
export async function findLeftovers(root: string, facts: LeftoverFacts): Promise<Leftovers> {
  const { situation, others, saved, now } = facts;
  const isOwned = makeOwner(situation, others);
  const found: Leftovers = { files: [], kept: [] };
  const recorded = recordedOutputs(situation.lock);
  const paid = firstByDigest(recorded);
  for (const [path, outputs] of groupBy(recorded, (output) => output.path)) {
    if (isOwned(path)) continue;
    // A file that was edited by hand cannot be downloaded again.
    const digests = new Set(outputs.flatMap(({ sha256, isEdited }) => (isEdited ? [] : [sha256])));
    const state = await inspectLeftover(root, path, { digests, saved });
    if (state === 'absent') continue;
    if (typeof state === 'string') found.kept.push({ path, why: state });
    else {
      const { bytes, sha256 } = state;
      const { address } = outputs[0] ?? {};
      found.files.push({ path, bytes, is: 'output', ...defined({ address }), digests, ...paid.get(sha256)?.charge });
    }
  }
  found.files.push(...(await findPartials(root, { recorded, situation, now })));
  found.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return found;
}

interface RecordedOutput {
  address: string;
  path: string;
  sha256: string;
  isEdited: boolean;
  charge: { jobId?: string; credits?: number };
}

function recordedOutputs({ steps }: Lock): RecordedOutput[] {
  return [...steps.values()].flatMap(({ address, purchases }) =>
    purchases.flatMap(({ jobId, credits, outputs = [] }) => {
      const charge = defined({ jobId, credits });
      return outputs.map(({ path, sha256, edited }) => ({ address, path, sha256, isEdited: edited === true, charge }));
    }),
  );
}

function firstByDigest(recorded: readonly RecordedOutput[]): Map<string, RecordedOutput> {
  return new Map(recorded.toReversed().map((output) => [output.sha256, output]));
}

function samePath(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

function makeOwner({ matches }: Situation, others: readonly OtherLock[]): (path: string) => boolean {
  const theirs = others.flatMap(({ lock, prefix }) => recordedOutputs(lock).map(({ path }) => prefix + path));
  const paths = new Set(theirs.map(samePath));
  const stems = new Set<string>();
  const listStems: string[] = [];
  for (const { step, purchase } of matches) {
    const outputs = purchase?.outputs ?? [];
    for (const output of outputs) paths.add(samePath(output.path));
    if (step.file !== undefined) paths.add(samePath(step.file.path));
    // Until a step has saved a file, an existing file at its output path may be its output.
    if (step.save === '' || (purchase?.state === 'done' && outputs.length > 0)) continue;
    stems.add(samePath(step.save));
    if (kinds[step.kind]?.parts !== undefined) listStems.push(samePath(`${step.save}-`));
  }
  return (given) => {
    const path = samePath(given);
    const stem = withoutExtension(path);
    if (paths.has(path) || stems.has(stem)) return true;
    return listStems.some((start) => stem.startsWith(start) && /^\d+$/.test(stem.slice(start.length)));
  };
}

async function inspectLeftover(
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

async function findPartials(
  root: string,
  { recorded, situation, now }: { recorded: readonly RecordedOutput[]; situation: Situation; now: number },
): Promise<LeftoverFile[]> {
  const paths = [...recorded.map(({ path }) => path), ...situation.written.steps.map(({ save }) => save)];
  const folders = new Set(paths.filter(isOutputPath).map((path) => path.split('/').slice(0, -1).join('/')));
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

/** Finds retained copies of replaced outputs, unless another lock contains their digest. `wanted`: digests to keep. */
export async function findReplaced(
  files: KeptFiles,
  facts: { lock: Lock; others: readonly Lock[]; wanted: ReadonlySet<string>; now: number },
): Promise<Leftovers> {
  const { lock, others, wanted, now } = facts;
  const paid = firstByDigest(recordedOutputs(lock));
  const elsewhere = new Set(others.flatMap((other) => recordedOutputs(other).map(({ sha256 }) => sha256)));
  const found: Leftovers = { files: [], kept: [] };
  for (const entry of await files.list()) {
    const { name: path, is, sha256, bytes, sinceMs } = entry;
    if (is === 'partial') {
      if (now - sinceMs > brokenAfterMs) found.files.push({ path, bytes, is: 'partial' });
      continue;
    }
    if (sha256 === undefined) {
      found.kept.push({ path, why: 'it is not a file that mediabatch retained' });
      continue;
    }
    const bought = paid.get(sha256);
    if (bought === undefined && elsewhere.has(sha256)) continue;
    const isIntact = (await files.find({ path, sha256, bytes })) !== undefined;
    if (!isIntact || wanted.has(sha256)) {
      found.kept.push({
        path,
        why: isIntact ? 'the next apply needs the file' : 'it was changed after it was retained',
      });
      continue;
    }
    const of = bought === undefined ? {} : { address: bought.address, was: bought.path };
    const since = new Date(sinceMs).toISOString();
    found.files.push({ path, bytes, is: 'kept', ...of, ...bought?.charge, since, digests: new Set([sha256]) });
  }
  return found;
}

export async function findNeeded({ matches }: Situation, root: string): Promise<Set<string>> {
  const wanted = new Set<string>();
  for (const { step, purchase } of matches) {
    for (const output of (step.unpicked === true ? undefined : purchase?.outputs) ?? []) {
      if ((await inspectOutput(root, output)).is !== 'intact') wanted.add(output.sha256);
    }
  }
  return wanted;
}

export interface RemoteRecords {
  records: RemoteRecord[];
  skipped: { address: string; why: string }[];
}

export function findRemoteRecords(
  situation: Situation,
  present: PresentFiles,
  addresses: ReadonlySet<string>,
): RemoteRecords {
  const { lock, matches, byAddress } = situation;
  const waitingFor = findWaiting(situation);
  const orphans = new Set(findOrphans(situation));
  const inUse = new Set(matches.flatMap(({ purchase }) => purchase?.jobId ?? []));
  const found: RemoteRecords = { records: [], skipped: [] };
  const seen = new Set<string>();
  for (const address of [...addresses].sort()) {
    const record = lock.steps.get(address);
    if (record === undefined || kinds[record.kind]?.remove === undefined) continue;
    const isOrphan = orphans.has(address);
    const why = isOrphan ? undefined : whyKept(byAddress.get(address), waitingFor(address), present);
    if (why !== undefined) {
      found.skipped.push({ address, why });
      continue;
    }
    for (const purchase of record.purchases) {
      if (!isJob(purchase)) continue;
      const { jobId, state } = purchase;
      if (seen.has(jobId) || (isOrphan && inUse.has(jobId))) continue;
      if (state === 'running') {
        found.skipped.push({ address, why: `its job ${jobId} is running; run apply, which collects the job` });
        continue;
      }
      seen.add(jobId);
      const { recordId, credits } = purchase;
      const files = filesOf(purchase, present);
      found.records.push({ kind: record.kind, address, jobId, ...defined({ recordId, credits }), files, isOrphan });
    }
  }
  return found;
}

function filesOf({ state, outputs }: Job, present: PresentFiles): RemoteRecord['files'] {
  if (outputs === undefined || outputs.length === 0) return state === 'done' ? 'missing' : 'none';
  return outputs.every(({ path }) => present.get(path) === 'intact') ? 'intact' : 'missing';
}

function findWaiting({ matches, gateOf }: Situation): (address: string) => readonly Match[] {
  const open = matches.filter(({ purchase }) => purchase?.state !== 'done');
  const waiting = groupBy(
    open.flatMap((match) => match.step.needs.map((need) => ({ need, match }))),
    ({ need }) => need,
  );
  return (address) => {
    const names = new Set([address, gateOf.get(address)?.name ?? address]);
    return [...names].flatMap((name) => waiting.get(name) ?? []).map(({ match }) => match);
  };
}

function whyKept(own: Match | undefined, waiting: readonly Match[], present: PresentFiles): string | undefined {
  if (own?.purchase?.state === 'done' && filesOf(own.purchase, present) === 'missing') {
    const way = own.step.unpicked === true ? 'once the output is picked, apply downloads the file' : 'apply fetches it';
    return `the output file is missing or changed; ${way}, and after that the record can be removed`;
  }
  const [first] = waiting;
  if (first === undefined) return undefined;
  const more = waiting.length > 1 ? ` and ${waiting.length - 1} more` : '';
  return `${first.step.address}${more} still needs the URL of this output`;
}
