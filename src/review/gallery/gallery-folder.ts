import { constants, readdirSync } from 'node:fs';
import { copyFile, lstat, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { basename, extname, isAbsolute, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewData, ReviewFile } from '../../contract/review.ts';
import { renameFile } from '../../disk/fs/durable.ts';
import { makeFolders } from '../../disk/fs/folders.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { lstatOrAbsent, readSmallFile, readStart } from '../../disk/fs/plain-file.ts';
import { replaceFile, temporaryName } from '../../disk/fs/replace.ts';
import { checkOutputs } from '../../disk/outputs/check-outputs.ts';
import { hashFile } from '../../disk/outputs/hash-file.ts';
import { measureFile } from '../../disk/outputs/measure-files.ts';
import { groupBy, messageOf } from '../../ground/values.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';
import type { FileFinder } from '../find-files.ts';
import { galleryStart, unfinishedHtml } from './gallery-html.ts';

/** Name patterns of files in the folders of a gallery. mediabatch never removes a file with another name. */
const folders = { thumbs: /^[0-9a-f]{20}\.jpg$/, media: /-[0-9a-f]{12}\.[a-z0-9]+$/ } as const;

const temporary = /^\.mediabatch-[0-9a-f]{16}\.tmp$/;

/**
 * A gallery on disk. Each file is written under a temporary name and renamed, `index.html` last. After a crash, the
 * folder therefore contains the complete previous or new gallery. Unchanged files are not rewritten.
 */
export class GalleryFolder {
  readonly path: string;
  readonly #used = new Set<string>();
  readonly #written = new Set<string>();
  readonly #isNew: boolean;

  private constructor(path: string, isNew: boolean) {
    this.path = path;
    this.#isNew = isNew;
  }

  static async open(path: string, shown: string): Promise<GalleryFolder> {
    for (const name of ['', ...Object.keys(folders)]) {
      const wayOut = findWayOut(join(path, name, 'index.html'));
      if (wayOut !== undefined) throw unwritten(shown, `cannot be written: ${wayOut}`);
    }
    const index = join(path, 'index.html');
    const found = lstatOrAbsent(path);
    if (found !== undefined && !found.isDirectory()) throw unwritten(shown, 'is a file');
    const isOurs = found !== undefined && readStart(index, galleryStart.length) === galleryStart;
    if (found !== undefined && !isOurs && readdirSync(path).some((name) => !temporary.test(name))) {
      throw unwritten(shown, 'already exists and is not a gallery written by report; it was not changed');
    }
    try {
      await makeFolders(path);
      if (!isOurs) await replaceFile(index, unfinishedHtml);
      await makeFolders(join(path, 'thumbs'));
    } catch (error) {
      throw unwritten(shown, `cannot be written: ${messageOf(error)}`);
    }
    return new GalleryFolder(path, found === undefined);
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    this.#used.add(name);
    const path = join(this.path, name);
    if (hasBytes(path, bytes)) return;
    await this.#replace(path, (unnamed) => writeFile(unnamed, bytes, { flag: 'wx' }));
  }

  /** Copies a file. A link would let an edit of the copy change the original. `sha256`: in hex. */
  async copy(name: string, source: string, sha256: string): Promise<void> {
    this.#used.add(name);
    const path = join(this.path, name);
    const [old, { size, atime, mtime }] = [lstatOrAbsent(path), await lstat(source)];
    if (old?.isFile() === true && old.size === size) {
      if (old.mtime.getTime() === mtime.getTime() || (await hashFile(path))?.sha256 === sha256) return;
    }
    await this.#replace(path, async (unnamed) => {
      await copyFile(source, unnamed, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      await utimes(unnamed, atime, mtime);
    });
  }

  async finish(html: string): Promise<void> {
    const index = join(this.path, 'index.html');
    if (!hasBytes(index, Buffer.from(html))) await replaceFile(index, html);
    for (const [folder, ours] of [...Object.entries(folders), ['', temporary] as const]) {
      if (lstatOrAbsent(join(this.path, folder))?.isDirectory() !== true) continue;
      for (const name of readdirSync(join(this.path, folder))) {
        const isStray = (ours.test(name) && !this.#used.has(`${folder}/${name}`)) || temporary.test(name);
        if (isStray) await unlink(join(this.path, folder, name)).catch(() => undefined);
      }
    }
  }

  async discard(): Promise<void> {
    if (this.#isNew) await rm(this.path, { recursive: true });
    else for (const path of this.#written) await unlink(path).catch(() => undefined);
  }

  async #replace(path: string, make: (unnamed: string) => Promise<void>): Promise<void> {
    const unnamed = join(path, '..', temporaryName('tmp'));
    await makeFolders(join(path, '..'));
    try {
      if (lstatOrAbsent(path) === undefined) this.#written.add(path);
      await make(unnamed);
      await renameFile(unnamed, path);
    } catch (error) {
      await unlink(unnamed).catch(() => undefined);
      throw error;
    }
  }
}

function hasBytes(path: string, bytes: Uint8Array): boolean {
  // A synchronous read takes half the time for thousands of small files.
  const found = readSmallFile(path, bytes.length);
  return found !== undefined && Buffer.compare(found, bytes) === 0;
}

export function unwritten(shown: string, why: string, hint = 'choose another folder with --out'): CampaignError {
  return new CampaignError({ code: 'MB3301', message: `the gallery ${shown} ${why}`, hint, path: shown });
}

export interface GalleryFile {
  path: string;
  file: ReviewFile;
  mentions: readonly ReviewFile[];
}

export interface GalleryPlace {
  add(file: GalleryFile, jpeg: Uint8Array | undefined): Promise<void>;
  /**
   * Returns whether the added files fit the size limit. If not, the caller adds all files again in the next smaller
   * size. Throws MB3301 after the smallest size.
   */
  fits(): Promise<boolean>;
  readonly side?: number | undefined;
  finish(data: ReviewData & { report: ReportParts }): Promise<number>;
}

export async function findFiles(
  data: ReviewData,
  campaign: Pick<OpenCampaign, 'paths' | 'seen' | 'measures'>,
  finder: FileFinder,
): Promise<GalleryFile[]> {
  const { paths, seen, measures } = campaign;
  const all = data.assets.flatMap(({ files, earlier, report }) => [
    ...files,
    ...earlier.flatMap((one) => one.files),
    ...(report?.before?.files ?? []),
  ]);
  const groups = [...groupBy(all.filter(isThere), ({ sha256, path }) => `${sha256} ${path}`).values()];
  const placed = groups.flatMap(([file]) => (file !== undefined && file.isKept !== true ? [file] : []));
  const states = await checkOutputs(paths.outputs, placed, { seen });
  const found: GalleryFile[] = [];
  for (const mentions of groups) {
    const [file] = mentions;
    if (file === undefined) continue;
    const isPlaced = file.isKept !== true;
    const path = isPlaced ? join(paths.outputs, file.path) : await finder.find(file);
    const isIntact = isPlaced ? states.get(file.path) === 'intact' : path !== undefined;
    if (isIntact && path !== undefined) {
      found.push({ path, file, mentions });
      const { hasCredentials } = await measurePlaced(campaign, file, ['credentials']);
      if (hasCredentials === true) for (const one of mentions) one.hasCredentials = true;
    } else for (const one of mentions) one.problem = isPlaced ? 'damaged' : 'missing';
  }
  await measures.keep();
  for (const asset of data.assets) {
    asset.earlier = asset.earlier.map((one) => ({ ...one, files: one.files.filter(isThere) }));
    const before = asset.report?.before;
    if (before) before.files = before.files.filter(isThere);
  }
  return found;
}

export async function measurePlaced(
  { paths, measures }: Pick<OpenCampaign, 'paths' | 'measures'>,
  { path, mediaType, bytes, sha256, isKept }: ReviewFile,
  aspects: readonly Aspect[],
): Promise<MediaFacts> {
  if (isKept === true) return {};
  const output = { path, type: mediaType, bytes, sha256 };
  return measureFile({ root: paths.outputs, kept: measures }, { output, aspects });
}

function isThere({ problem }: ReviewFile): boolean {
  return problem === undefined;
}

export function urlFrom(folder: string, path: string): string {
  const way = relative(folder, path);
  // The file is on another drive.
  if (isAbsolute(way)) return pathToFileURL(path).href;
  return encodePath(way.split(sep).join('/'));
}

export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

export function nameOfCopy({ path, sha256 }: ReviewFile, ending = extname(path)): string {
  return `media/${basename(path, extname(path))}-${sha256.slice(0, 12)}${ending}`;
}
