import { createReadStream, readFileSync, realpathSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Clock, systemClock } from '../../contract/clock.ts';
import { OutputError } from '../../contract/errors.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { OutputTarget } from '../../contract/ports.ts';
import { lstatOrAbsent, readSmallFile } from '../../disk/fs/plain-file.ts';
import { createWhole, replaceFile } from '../../disk/fs/replace.ts';
import { smallBytes } from '../../disk/outputs/hash-file.ts';
import { findOutputFile, isSameFolder } from '../../disk/outputs/output-path.ts';
import { createOutputs } from '../../disk/outputs/outputs.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import { bodyOf, marker, openPlace, type Store, type StoreFiles, type StorePlace, unusable } from './store-marker.ts';

const mostBytes = 4096;

/** Opens a shared folder or `s3://bucket/prefix` as a store. */
export async function openStore(
  name: string,
  { makes, env = process.env, clock = systemClock }: { makes: boolean; env?: NodeJS.Dict<string>; clock?: Clock },
): Promise<Store> {
  const place = name.startsWith('s3:')
    ? await (await import('./s3.ts')).openBucketPlace(name, { env, clock })
    : await folderPlace(name);
  const store = await openPlace(place, { makes });
  return { ...store, filesOf: (campaign) => guarded(store.filesOf(campaign), () => refuseName(campaign)) };
}

async function folderPlace(name: string): Promise<StorePlace> {
  if (name.trim() === '') throw unnamedStore();
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(name)) throw noStore(name);
  const folder = resolve(name);
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) throw unusable(name, 'is not a folder on this machine');
  return {
    name,
    read: async (path) => readSmallFile(join(folder, path), mostBytes),
    async write(path, content) {
      const full = join(folder, path);
      await mkdir(dirname(full), { recursive: true });
      if (isSameFolder(join(realpathSync.native(folder), dirname(path)))) await replaceFile(full, content);
    },
    async create(path, content) {
      // The file has default permissions, because all users of the store must be able to read it.
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await createWhole(join(folder, path), content, 0o666);
    },
    requireThere(id) {
      if (readSmallFile(join(folder, marker), mostBytes)?.includes(id) === true) return;
      throw new OutputError(
        'disk',
        `the store ${name} is missing or was replaced by another store: check whether it is mounted`,
      );
    },
    filesOf: (campaign, requireThere) =>
      guarded(filesBelow(join(folder, campaign), { name, requireThere }), () => refuseLink(join(folder, campaign))),
  };
}

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

/** Throws if a campaign name leads out of the store. Names come from the database, which other users can change. */
function refuseName(campaign: string): void {
  const isName = /^[a-z0-9][a-z0-9\-_.]{0,63}$/.test(campaign); // I48 (name)
  if (!isName)
    throw new OutputError(
      'path',
      `${JSON.stringify(campaign)} is not a valid campaign name, so it cannot be a folder of a store`,
    );
}

/** Throws if the folder is a symbolic link, which could lead files out of the store. */
function refuseLink(folder: string): void {
  const isLink = lstatOrAbsent(folder)?.isSymbolicLink() === true; // I48
  if (isLink) throw new OutputError('path', `${folder} is a symbolic link, which a store does not follow`);
}

function filesBelow(root: string, { name, requireThere }: { name: string; requireThere(): void }): StoreFiles {
  // The file may exist, because another worker created it.
  const files = createOutputs(root, { kept: 'beside' });
  const placed = (target: OutputTarget) => ({
    ...target,
    notice: (text: string) => target.notice(`${name}: ${text}`),
  });
  return {
    ...files,
    async save(target, download) {
      requireThere();
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

async function* readSmall(path: string): AsyncGenerator<Uint8Array> {
  yield readFileSync(path);
}

/** An empty store name would refer to the working directory. */
function unnamedStore(): CampaignError {
  return new CampaignError({
    code: 'MB3705',
    message: '--store is empty',
    hint: 'name a folder or s3://BUCKET/PREFIX. If the value comes from a variable, set that variable',
  });
}

function noStore(name: string): CampaignError {
  return new CampaignError({
    code: 'MB3705',
    message: `the store ${name} is neither a folder nor s3://BUCKET/PREFIX`,
    hint: 'use s3:// for every S3-compatible storage. For storage outside AWS, set AWS_ENDPOINT_URL_S3 to its address',
  });
}
