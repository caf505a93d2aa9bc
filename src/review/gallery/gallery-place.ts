import { constants, readdirSync } from 'node:fs';
import { copyFile, lstat, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CampaignError } from '../../contract/failure.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewData, ReviewFile } from '../../contract/review.ts';
import { renameFile } from '../../disk/fs/durable.ts';
import { makeFolders } from '../../disk/fs/folders.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { lstatOrAbsent, readSmallFile, readStart } from '../../disk/fs/plain-file.ts';
import { replaceFile, temporaryName } from '../../disk/fs/replace.ts';
import { hashFile } from '../../disk/outputs/hash-file.ts';
import { messageOf } from '../../ground/values.ts';
import { bytesText } from '../../report/numbers.ts';
import { requirePageFile } from '../serve/page-files.ts';
import { hasThumb, makeThumb, screenSide } from '../thumbs/thumbs.ts';
import { folderHtml, galleryStart, singleHtml, unfinishedHtml } from './gallery-html.ts';

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

interface PlaceOptions {
  path: string;
  /** Path of the gallery, as messages show it. */
  shown: string;
  single: boolean | undefined;
  copy: boolean;
  /** Maximum size of the folder in bytes. If the files exceed it, pictures become JPEGs of screen size. */
  maxBytes: number | undefined;
  isReduced: boolean;
}

const sides = [screenSide, 1024, 800];
const ownFiles = {
  'page.js': 'gallery.js',
  'page.css': 'gallery.css',
  'icon.svg': 'icon.svg',
} as const;

export async function openPlace({ path, shown, single, isReduced, ...options }: PlaceOptions): Promise<GalleryPlace> {
  if (single) return SingleFile.open(path, shown);
  return new Folder(await GalleryFolder.open(path, shown), { ...options, shown, sides: isReduced ? sides : [] });
}

interface FolderOptions extends Pick<PlaceOptions, 'copy' | 'maxBytes' | 'shown'> {
  sides: readonly number[];
}

class Folder implements GalleryPlace {
  readonly #folder: GalleryFolder;
  readonly #options: FolderOptions;
  #bytes = 0;
  #tries = 0;

  get side(): number | undefined {
    return this.#options.sides[this.#tries];
  }

  constructor(folder: GalleryFolder, options: FolderOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  async add(one: GalleryFile, jpeg: Uint8Array | undefined): Promise<void> {
    const { path, file, mentions } = one;
    const url = this.#options.copy ? encodePath(await this.#copy(one)) : urlFrom(this.#folder.path, path);
    const thumb = `thumbs/${file.sha256.slice(0, 20)}.jpg`;
    if (jpeg !== undefined) {
      if (this.#counts(jpeg.length)) await this.#folder.put(thumb, jpeg);
    }
    for (const mention of mentions) Object.assign(mention, { url, ...(jpeg !== undefined && { thumb }) });
  }

  async #copy({ path, file }: GalleryFile): Promise<string> {
    const { bytes, sha256 } = file;
    const { side } = this;
    const made = side !== undefined && hasThumb(file) ? await makeThumb({ path, bytes, sha256 }, side) : undefined;
    if (made !== undefined && 'jpeg' in made && made.jpeg.length < bytes) {
      const name = nameOfCopy(file, '.jpg');
      if (this.#counts(made.jpeg.length)) await this.#folder.put(name, made.jpeg);
      return name;
    }
    if (this.#counts(bytes)) await this.#folder.copy(nameOfCopy(file), path, sha256);
    return nameOfCopy(file);
  }

  #counts(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes <= (this.#options.maxBytes ?? Number.POSITIVE_INFINITY);
  }

  async fits(): Promise<boolean> {
    const { maxBytes = Number.POSITIVE_INFINITY, sides: all, shown } = this.#options;
    if (this.#bytes <= maxBytes) return true;
    const [least] = all.slice(-1);
    if (this.#tries >= all.length - 1) {
      await this.#folder.discard();
      throw unwritten(
        shown,
        `would have ${bytesText(this.#bytes)} with pictures of ${least} pixels: ${bytesText(this.#bytes - maxBytes)} more than ${bytesText(maxBytes)}; nothing was written`,
        'select fewer steps with --select, or set a larger --max-size',
      );
    }
    this.#tries += 1;
    this.#bytes = 0;
    return false;
  }

  async finish(data: ReviewData): Promise<number> {
    for (const [name, own] of Object.entries(ownFiles)) await this.#folder.put(name, await requirePageFile(own));
    const html = folderHtml(data);
    await this.#folder.finish(html);
    return Buffer.byteLength(html);
  }
}

function urlFrom(folder: string, path: string): string {
  const way = relative(folder, path);
  // The file is on another drive.
  if (isAbsolute(way)) return pathToFileURL(path).href;
  return encodePath(way.split(sep).join('/'));
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function nameOfCopy({ path, sha256 }: ReviewFile, ending = extname(path)): string {
  return `media/${basename(path, extname(path))}-${sha256.slice(0, 12)}${ending}`;
}

const mostBytes = 20 * 1024 * 1024;

export class SingleFile implements GalleryPlace {
  readonly #path: string;
  readonly #shown: string;
  #bytes = 0;
  #thumbs = 0;
  #left = 0;

  private constructor(path: string, shown: string) {
    this.#path = path;
    this.#shown = shown;
  }

  static async open(path: string, shown: string): Promise<SingleFile> {
    if (!/^\.html?$/i.test(extname(path))) {
      throw new CampaignError({
        code: 'MB3000',
        message: `--single-file: ${shown} does not end in .html`,
        hint: 'use a name that ends in .html',
        options: ['--single-file'],
      });
    }
    const wayOut = findWayOut(dirname(resolve(path)));
    if (wayOut !== undefined) throw refused(shown, `cannot be written: ${wayOut}`);
    const isThere = lstatOrAbsent(path) !== undefined;
    if (isThere && readStart(path, galleryStart.length) !== galleryStart) {
      throw refused(shown, 'already exists and is not a gallery written by report; it was not changed');
    }
    return new SingleFile(path, shown);
  }

  async add({ mentions }: GalleryFile, jpeg: Uint8Array | undefined): Promise<void> {
    this.#left += 1;
    if (jpeg === undefined) return;
    const thumb = `data:image/jpeg;base64,${Buffer.from(jpeg).toString('base64')}`;
    this.#thumbs += 1;
    // The data contains the thumbnail once for each reference.
    this.#bytes += thumb.length * mentions.length;
    if (this.#bytes > mostBytes) throw tooLarge(this.#shown, this.#thumbs);
    for (const one of mentions) one.thumb = thumb;
  }

  async fits(): Promise<boolean> {
    return true;
  }

  async finish(data: ReviewData & { report: ReportParts }): Promise<number> {
    data.report.embedded = { thumbs: this.#thumbs, left: this.#left };
    const [styles, script] = await Promise.all(['gallery.css', 'gallery.js'].map(requirePageFile));
    const html = singleHtml(data, { script: `${script}`, styles: `${styles}` });
    const bytes = Buffer.byteLength(html);
    if (bytes > mostBytes) throw tooLarge(this.#shown, this.#thumbs);
    await replaceFile(this.#path, html);
    return bytes;
  }
}

function refused(shown: string, why: string): CampaignError {
  return unwritten(shown, why, 'choose another file name for --single-file');
}

function tooLarge(shown: string, thumbs: number): CampaignError {
  return new CampaignError({
    code: 'MB3301',
    message: `${shown} would be larger than 20 MB: its first ${thumbs} small pictures already exceed the limit; nothing was written`,
    hint: 'select fewer steps with --select, or use --copy instead of --single-file to make a folder',
    path: shown,
  });
}

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

  /** Copies a file. With a link, an edit of the copy would change the original. `sha256`: in hex. */
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
