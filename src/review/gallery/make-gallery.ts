import { relative } from 'node:path';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { UnsafeFileError } from '../../contract/errors.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewData } from '../../contract/review.ts';
import { eachAtOnce } from '../../ground/places.ts';
import { messageOf } from '../../ground/values.ts';
import { FileFinder } from '../find-files.ts';
import { requirePageFile } from '../serve/page-files.ts';
import { type Looks, looksOf } from '../thumbs/make-thumb.ts';
import { hasThumb, Thumbs } from '../thumbs/thumbs.ts';
import { describeGallery, type GalleryOptions } from './describe-gallery.ts';
import { findAlike } from './find-alike.ts';
import { encodePath, findFiles, type GalleryFile, type GalleryPlace, nameOfCopy, urlFrom } from './gallery-files.ts';
import { GalleryFolder, unwritten } from './gallery-folder.ts';
import { folderHtml } from './gallery-html.ts';
import { holdGallery } from './hold-gallery.ts';
import { SingleFile } from './single-file.ts';

export interface MakeOptions extends GalleryOptions {
  /** Absolute: the folder, or with `single` the file. */
  path: string;
  single?: boolean | undefined;
  /** Media beside the page instead of links to where they are. */
  copy?: boolean | undefined;
  /** Hears how many small pictures there are so far, of how many. */
  onThumb?(done: number, all: number): void;
}

export interface MadeGallery {
  data: ReviewData & { report: ReportParts };
  /** Size of the page with the data in it. */
  bytes: number;
}

/** How many files are worked on at once; the threads that make pictures are fewer. */
const atOnce = 16;
/** The files of the page, by what they are called in the folder and in this package. */
const ownFiles = { 'page.js': 'gallery.js', 'page.css': 'gallery.css', 'icon.svg': 'icon.svg' } as const;

/**
 * Makes the gallery of a campaign, as a folder or as a single file. Sends nothing, takes no lock, and writes nothing but the
 * gallery and the store of small pictures. What cannot be written, or is being written by another report, is MB3301.
 */
export async function makeGallery(campaign: OpenCampaign, options: MakeOptions): Promise<MadeGallery> {
  const shown = relative('', options.path) || options.path;
  const finder = new FileFinder(campaign.paths);
  const data = await describeGallery(campaign, finder, options);
  const files = await findFiles(data, campaign, finder);
  const thumbs = new Thumbs(campaign.paths.state);
  let release: (() => Promise<void>) | undefined;
  try {
    if (options.single !== true) release = await holdGallery(campaign.paths.state, { path: options.path, shown });
    const place = options.single
      ? await SingleFile.open(options.path, shown)
      : new Folder(await GalleryFolder.open(options.path, shown), options);
    const looks = await placeFiles(files, { thumbs, place, onThumb: options.onThumb });
    addAlike(data, looks);
    return { data, bytes: await place.finish(data) };
  } catch (error) {
    const isOfDisk = error instanceof UnsafeFileError || (error instanceof Error && 'syscall' in error);
    if (!isOfDisk || error instanceof CampaignError) throw error;
    const hint = options.single ? 'name a file in a folder that exists and has room' : undefined;
    throw unwritten(shown, `cannot be written: ${messageOf(error)}`, hint);
  } finally {
    await release?.();
    await thumbs.close();
  }
}

class Folder implements GalleryPlace {
  readonly #folder: GalleryFolder;
  readonly #copy: boolean;

  constructor(folder: GalleryFolder, { copy = false }: Pick<MakeOptions, 'copy'>) {
    this.#folder = folder;
    this.#copy = copy;
  }

  async add({ path, file, mentions }: GalleryFile, jpeg: Uint8Array | undefined): Promise<void> {
    const url = this.#copy ? encodePath(nameOfCopy(file)) : urlFrom(this.#folder.path, path);
    const thumb = `thumbs/${file.sha256.slice(0, 20)}.jpg`;
    if (this.#copy) await this.#folder.copy(nameOfCopy(file), path, file.sha256);
    if (jpeg !== undefined) await this.#folder.put(thumb, jpeg);
    for (const one of mentions) Object.assign(one, { url, ...(jpeg !== undefined && { thumb }) });
  }

  async finish(data: ReviewData): Promise<number> {
    for (const [name, own] of Object.entries(ownFiles)) await this.#folder.put(name, await requirePageFile(own));
    const html = folderHtml(data);
    await this.#folder.finish(html);
    return Buffer.byteLength(html);
  }
}

/** Returns what the pictures look like, by their digests. */
async function placeFiles(
  files: readonly GalleryFile[],
  { thumbs, place, onThumb }: { thumbs: Thumbs; place: GalleryPlace; onThumb: MakeOptions['onThumb'] },
): Promise<ReadonlyMap<string, Looks>> {
  const looks = new Map<string, Looks>();
  const all = files.filter(({ file }) => hasThumb(file)).length;
  let done = 0;
  await eachAtOnce(files, atOnce, async (one) => {
    if (!hasThumb(one.file)) return place.add(one, undefined);
    const thumb = await thumbs.get(one.file, async () => one.path);
    const jpeg = 'jpeg' in thumb ? thumb.jpeg : undefined;
    const found = jpeg && looksOf(jpeg);
    if (found !== undefined) looks.set(one.file.sha256, found);
    await place.add(one, jpeg);
    done += 1;
    onThumb?.(done, all);
  });
  return looks;
}

function addAlike(data: ReviewData & { report: ReportParts }, looks: ReadonlyMap<string, Looks>): void {
  const { assets, report } = data;
  report.alike = findAlike(data, ({ sha256 }) => looks.get(sha256));
  const pictures = assets.flatMap(({ files }) => files.find(({ is }) => is === 'image') ?? []);
  const compared = pictures.filter(({ sha256 }) => looks.get(sha256)?.hash !== undefined).length;
  report.hashed = { compared, images: pictures.length };
}
