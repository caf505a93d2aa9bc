import { randomBytes } from 'node:crypto';
import { createReadStream, readFileSync, realpathSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, systemClock } from '../../contract/clock.ts';
import { OutputError } from '../../contract/errors.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { OutputTarget } from '../../contract/ports.ts';
import { lstatOrAbsent, readSmallFile } from '../../disk/fs/plain-file.ts';
import { replaceFile, writeNewFile } from '../../disk/fs/replace.ts';
import { smallBytes } from '../../disk/outputs/hash-file.ts';
import { findOutputFile, isSameFolder } from '../../disk/outputs/output-path.ts';
import { createOutputs } from '../../disk/outputs/outputs.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Marks } from './run-mark.ts';
import {
  bodyOf,
  missing,
  placeOfMark,
  readMarker,
  type Store,
  type StoreFiles,
  unusable,
  writeMarker,
} from './store-marker.ts';

const marker = 'store.json';
const mostBytes = 4096;
const mostLooks = 20;

/**
 * Opens a store: a folder that all machines share, or `s3://bucket/prefix`. A marker in it identifies it. A place
 * without a marker may be an unmounted volume, so it is refused (MB3705) unless `makes`, which creates the marker.
 */
export async function openStore(
  name: string,
  { makes, env = process.env, clock = systemClock }: { makes: boolean; env?: NodeJS.Dict<string>; clock?: Clock },
): Promise<Store> {
  if (!name.startsWith('s3:')) return openFolder(name, makes);
  const { openS3Store } = await import('./s3.ts');
  const store = await openS3Store(name, { makes, env, clock });
  return { ...store, filesOf: (campaign) => guarded(store.filesOf(campaign), () => refuseName(campaign)) };
}

async function openFolder(name: string, makes: boolean): Promise<Store> {
  if (name.trim() === '') throw unnamedStore();
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(name)) throw noStore(name);
  const folder = resolve(name);
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) throw unusable(name, 'is not a folder on this machine');
  const state = join(folder, '.mediabatch');
  const id = (await findMarker(name, join(state, marker))) ?? (makes ? await makeMarker(name, state) : undefined);
  if (id === undefined) throw missing(name);
  const isThere = () => readSmallFile(join(state, marker), mostBytes)?.includes(id) === true;
  return {
    id,
    name,
    filesOf: (campaign) =>
      guarded(filesBelow(join(folder, campaign), { name, isThere }), () => {
        refuseName(campaign);
        refuseLink(join(folder, campaign));
      }),
    ...marksIn(folder, { name, isThere }),
  };
}

/** Wraps the files of a store so that each call first runs `check`, which throws for an unsafe path. */
function guarded(files: StoreFiles, check: () => void): StoreFiles {
  const checked =
    <Given extends unknown[], Result>(act: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      check();
      return act.apply(files, given);
    };
  return {
    save: checked(files.save),
    relocate: checked(files.relocate),
    measure: checked(files.measure),
    read: checked(files.read),
  };
}

/** Throws for a campaign name that would lead out of the store: it comes from the database, which others can write. */
function refuseName(campaign: string): void {
  const isName = /^[a-z0-9][a-z0-9\-_.]{0,63}$/.test(campaign); // I48 (name)
  if (!isName)
    throw new OutputError(
      'path',
      `${JSON.stringify(campaign)} is not a valid campaign name, so it cannot be a folder of a store`,
    );
}

/** Throws if the folder is a symbolic link: in a shared store it could redirect files to any place. */
function refuseLink(folder: string): void {
  const isLink = lstatOrAbsent(folder)?.isSymbolicLink() === true; // I48
  if (isLink) throw new OutputError('path', `${folder} is a symbolic link, which a store does not follow`);
}

function marksIn(folder: string, { name, isThere }: { name: string; isThere(): boolean }): Marks {
  return {
    async readMark(run) {
      if (!isThere()) throw new Error(goneText(name));
      return readSmallFile(join(folder, placeOfMark(run)), mostBytes)?.toString('utf8');
    },
    async writeMark(run, text) {
      if (!isThere()) throw new Error(goneText(name));
      const path = join(folder, placeOfMark(run));
      await mkdir(dirname(path), { recursive: true });
      if (isSameFolder(join(realpathSync.native(folder), dirname(placeOfMark(run))))) await replaceFile(path, text);
    },
  };
}

function goneText(name: string): string {
  return `the store ${name} is missing or was replaced by another one: is it mounted?`;
}

/**
 * Returns the files of a store, saved only while it is available: files written to an unmounted mount point are
 * hidden by the next mount.
 */
function filesBelow(root: string, { name, isThere }: { name: string; isThere(): boolean }): StoreFiles {
  // An existing file may come from another worker, or from this one before a restart, and is kept in both cases.
  const files = createOutputs(root, { kept: 'beside' });
  const placed = (target: OutputTarget) => ({
    ...target,
    notice: (text: string) => target.notice(`${name}: ${text}`),
  });
  return {
    ...files,
    async save(target, download) {
      if (!isThere()) throw new OutputError('disk', goneText(name));
      return files.save(placed(target), download);
    },
    relocate: (target, ...from) => files.relocate(placed(target), ...from),
    async read({ path }) {
      const full = isOutputPath(path) ? findOutputFile(root, path) : undefined;
      const stats = full === undefined ? undefined : await stat(full).catch(() => undefined);
      if (full === undefined || stats?.isFile() !== true) return undefined;
      return stats.size > smallBytes ? bodyOf(createReadStream(full)) : readSmall(full);
    },
  };
}

/** Reads a file in one piece, because a stream costs more for a small file. */
async function* readSmall(path: string): AsyncGenerator<Uint8Array> {
  yield readFileSync(path);
}

/** Reads a marker. An empty one is being written by another process, unless it stays empty. */
async function findMarker(name: string, path: string): Promise<string | undefined> {
  for (let looks = 0; ; looks += 1) {
    const bytes = readSmallFile(path, mostBytes);
    if (bytes === undefined) return undefined;
    if (bytes.length > 0 || looks === mostLooks) return readMarker(name, bytes);
    await wait(50);
  }
}

/** Creates a marker. If two processes create one at once, the first one counts. */
async function makeMarker(name: string, state: string): Promise<string | undefined> {
  const path = join(state, marker);
  const id = randomBytes(8).toString('hex');
  // Default permissions, because every user of the store has to read it.
  await mkdir(state, { recursive: true });
  try {
    await writeNewFile(path, writeMarker(id));
  } catch (error) {
    const there = await findMarker(name, path);
    if (there === undefined) throw error;
    return there;
  }
  return id;
}

/** Returns the error for an empty store name: as a path, it would mean the working directory. */
function unnamedStore(): CampaignError {
  return new CampaignError({
    code: 'MB3705',
    message: '--store is empty',
    hint: 'give a folder or s3://BUCKET/PREFIX. If the value comes from a variable, set that variable',
  });
}

function noStore(name: string): CampaignError {
  return new CampaignError({
    code: 'MB3705',
    message: `the store ${name} is neither a folder nor s3://BUCKET/PREFIX`,
    hint: 'use s3:// for every S3-compatible storage. If it is not on AWS, set AWS_ENDPOINT_URL_S3 to its address',
  });
}
