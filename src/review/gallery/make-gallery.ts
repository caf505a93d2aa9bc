import { dirname, extname, relative, resolve } from 'node:path';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { shownPath } from '../../campaign/paths.ts';
import { nameInGit } from '../../campaign/person.ts';
import { UnsafeFileError } from '../../contract/errors.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewData, ReviewFile } from '../../contract/review.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { lstatOrAbsent, readStart } from '../../disk/fs/plain-file.ts';
import { replaceFile } from '../../disk/fs/replace.ts';
import { eachAtOnce } from '../../ground/places.ts';
import { defined, messageOf } from '../../ground/values.ts';
import { bytesText } from '../../report/numbers.ts';
import { FileFinder } from '../find-files.ts';
import { requirePageFile } from '../serve/page-files.ts';
import { hasThumb, makeThumb, screenSide, Thumbs } from '../thumbs/thumbs.ts';
import { describeGallery, forClient, type GalleryOptions } from './describe-gallery.ts';
import {
  encodePath,
  findFiles,
  type GalleryFile,
  GalleryFolder,
  type GalleryPlace,
  measurePlaced,
  nameOfCopy,
  unwritten,
  urlFrom,
} from './gallery-folder.ts';
import { folderHtml, galleryStart, singleHtml } from './gallery-html.ts';

interface MakeOptions extends GalleryOptions {
  path: string;
  single?: boolean | undefined;
  client?: string | undefined;
  copy?: boolean | undefined;
  /** Maximum size of the folder in bytes. If the files exceed it, pictures become JPEGs of screen size. */
  maxBytes?: number | undefined;
  onThumb?(done: number, all: number): void;
  signal?: AbortSignal | undefined;
}

export interface MadeGallery {
  data: ReviewData & { report: ReportParts };
  bytes: number;
  side?: number;
}

const sides = [screenSide, 1024, 800];
const atOnce = 16;
const ownFiles = {
  'page.js': 'gallery.js',
  'page.css': 'gallery.css',
  'icon.svg': 'icon.svg',
} as const;

export async function makeGallery(campaign: OpenCampaign, options: MakeOptions): Promise<MadeGallery | undefined> {
  const shown = shownPath(options.path);
  const finder = new FileFinder(campaign.paths);
  const described = await describeGallery(campaign, finder, options);
  const found = await findFiles(described, campaign, finder);
  const { client: note } = options;
  const by = note === undefined ? undefined : await nameInGit(campaign.paths.folder);
  const data = note === undefined ? described : forClient(described, { note, by });
  const shownFiles = new Set(data.assets.flatMap((asset) => asset.files));
  const files =
    options.client === undefined ? found : found.filter(({ mentions }) => mentions.some((one) => shownFiles.has(one)));
  const thumbs = new Thumbs(campaign.paths.state);
  const isReduced =
    files.reduce((all, { file }) => all + file.bytes, 0) > (options.maxBytes ?? Number.POSITIVE_INFINITY);
  try {
    const { outputs } = campaign.paths;
    const soundOf = async ({ path, file }: GalleryFile) => {
      const placed = { ...file, path: relative(outputs, path) };
      const { wave, lufs } = await measurePlaced(campaign, placed, ['wave', 'sound']);
      return wave === undefined ? {} : { wave, ...(lufs !== undefined && { lufs }) };
    };
    const place = await openPlace(options, { shown, isReduced });
    for (;;) {
      await placeFiles(files, { ...options, thumbs, place, soundOf });
      if (options.signal?.aborted) return undefined;
      if (await place.fits()) break;
    }
    await campaign.measures.keep();
    return { data, bytes: await place.finish(data), ...defined({ side: place.side }) };
  } catch (error) {
    const isOfDisk = error instanceof UnsafeFileError || (error instanceof Error && 'syscall' in error);
    if (!isOfDisk || error instanceof CampaignError) throw error;
    const hint = options.single ? 'choose a file in an existing folder with enough free space' : undefined;
    throw unwritten(shown, `cannot be written: ${messageOf(error)}`, hint);
  } finally {
    await thumbs.close();
  }
}

async function openPlace(
  options: MakeOptions,
  { shown, isReduced }: { shown: string; isReduced: boolean },
): Promise<GalleryPlace> {
  if (options.single) return SingleFile.open(options.path, shown);
  const copy = options.copy === true || options.client !== undefined;
  const folder = await GalleryFolder.open(options.path, shown);
  return new Folder(folder, { copy, maxBytes: options.maxBytes, sides: isReduced ? sides : [], shown });
}

interface FolderOptions extends Pick<MakeOptions, 'copy' | 'maxBytes'> {
  sides: readonly number[];
  shown: string;
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

interface PlaceOptions extends Pick<MakeOptions, 'onThumb' | 'signal'> {
  thumbs: Thumbs;
  place: GalleryPlace;
  soundOf(file: GalleryFile): Promise<Pick<ReviewFile, 'wave' | 'lufs'>>;
}

async function placeFiles(
  files: readonly GalleryFile[],
  { thumbs, place, soundOf, onThumb, signal }: PlaceOptions,
): Promise<void> {
  const isDrawn = (file: ReviewFile) => hasThumb(file) || file.is === 'audio';
  const all = files.filter(({ file }) => isDrawn(file)).length;
  let done = 0;
  await eachAtOnce(files, atOnce, async (one) => {
    if (signal?.aborted) return;
    const thumb = hasThumb(one.file) ? await thumbs.get(one.file, async () => one.path) : undefined;
    const jpeg = thumb !== undefined && 'jpeg' in thumb ? thumb.jpeg : undefined;
    const sound = one.file.is === 'audio' ? await soundOf(one) : {};
    for (const mention of one.mentions) Object.assign(mention, sound);
    await place.add(one, jpeg);
    if (!isDrawn(one.file)) return;
    done += 1;
    onThumb?.(done, all);
  });
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
