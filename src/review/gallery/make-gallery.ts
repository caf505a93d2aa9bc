import { createHash } from 'node:crypto';
import { dirname, join, relative } from 'node:path';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { systemClock } from '../../contract/clock.ts';
import { UnsafeFileError } from '../../contract/errors.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewData, ReviewFile } from '../../contract/review.ts';
import { takeGuard } from '../../disk/lock/guard.ts';
import { eachAtOnce } from '../../ground/places.ts';
import { messageOf } from '../../ground/values.ts';
import { bytesText } from '../../report/numbers.ts';
import { FileFinder } from '../find-files.ts';
import { requirePageFile } from '../serve/page-files.ts';
import { makeThumb, screenSide } from '../thumbs/make-thumb.ts';
import { hasThumb, Thumbs } from '../thumbs/thumbs.ts';
import { describeGallery, type GalleryOptions } from './describe-gallery.ts';
import { forClient } from './for-client.ts';
import {
  encodePath,
  findFiles,
  type GalleryFile,
  type GalleryPlace,
  measurePlaced,
  nameOfCopy,
  urlFrom,
} from './gallery-files.ts';
import { GalleryFolder, unwritten } from './gallery-folder.ts';
import { folderHtml } from './gallery-html.ts';
import { SingleFile } from './single-file.ts';

export interface MakeOptions extends GalleryOptions {
  /** Absolute: the folder, or with `single` the file. */
  path: string;
  single?: boolean | undefined;
  /** Leaves out what is not for a client (`forClient`); the text is a line above the pictures. */
  client?: string | undefined;
  /** Media beside the page instead of links to where they are. */
  copy?: boolean | undefined;
  /** Bytes of the folder at most: pictures are copied as JPEGs that fit a screen where the originals are too large. */
  maxBytes?: number | undefined;
  /** Reports progress: thumbnails and waveforms done, and their total. */
  onThumb?(done: number, all: number): void;
  /** Ends it early: what is being made is finished, and the page is not written. */
  signal?: AbortSignal | undefined;
}

export interface MadeGallery {
  data: ReviewData & { report: ReportParts };
  /** Size of the page with the data in it. */
  bytes: number;
  /** Pictures were copied smaller than they are: pixels of their longer side at most. */
  side?: number;
}

/** Pixels of the longer side of pictures that are copied smaller, from large to small. */
const sides = [screenSide, 1024, 800];
/** How many files are worked on at once; the threads that make pictures are fewer. */
const atOnce = 16;
/** The files of the page, by what they are called in the folder and in this package. */
const ownFiles = {
  'page.js': 'gallery.js',
  'page-later.js': 'gallery-later.js',
  'page.css': 'gallery.css',
  'icon.svg': 'icon.svg',
} as const;

/**
 * Makes the gallery of a campaign, as a folder or as a single file. Sends nothing, takes no lock, and writes nothing but the
 * gallery and the store of small pictures. What cannot be written, or is being written by another report, is MB3301.
 * Undefined: it was interrupted.
 */
export async function makeGallery(campaign: OpenCampaign, options: MakeOptions): Promise<MadeGallery | undefined> {
  const shown = relative('', options.path) || options.path;
  const finder = new FileFinder(campaign.paths);
  const described = await describeGallery(campaign, finder, options);
  const found = await findFiles(described, campaign, finder);
  const data = options.client === undefined ? described : forClient(described, options.client);
  const shownFiles = new Set(data.assets.flatMap((asset) => asset.files));
  const files =
    options.client === undefined ? found : found.filter(({ mentions }) => mentions.some((one) => shownFiles.has(one)));
  const thumbs = new Thumbs(campaign.paths.state);
  const isReduced =
    files.reduce((all, { file }) => all + file.bytes, 0) > (options.maxBytes ?? Number.POSITIVE_INFINITY);
  let release: (() => Promise<void>) | undefined;
  try {
    if (options.single !== true) release = await holdGallery(campaign.paths.state, { path: options.path, shown });
    const { outputs } = campaign.paths;
    const waveOf = async ({ path, file }: GalleryFile) =>
      (await measurePlaced(campaign, { ...file, path: relative(outputs, path) }, ['wave'])).wave;
    const place = await openPlace(options, { shown, isReduced });
    for (;;) {
      await placeFiles(files, { ...options, thumbs, place, waveOf });
      if (options.signal?.aborted) return undefined;
      if (await place.fits()) break;
    }
    await campaign.measures.keep();
    return { data, bytes: await place.finish(data), ...(place.side !== undefined && { side: place.side }) };
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
  /** Pixels to which pictures are reduced, one after the other until they fit; empty: they are copied as they are. */
  sides: readonly number[];
  /** The folder as a person knows it. */
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

  /** Returns the name that the copy has in the folder. */
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

  /** Whether what was counted so far fits: what does not is counted, and not written. */
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
        'choose fewer with --select, or give a larger --max-size',
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
  /** Undefined: nobody can draw it. */
  waveOf(file: GalleryFile): Promise<string | undefined>;
}

/** Places files, each with its small picture or waveform. */
async function placeFiles(
  files: readonly GalleryFile[],
  { thumbs, place, waveOf, onThumb, signal }: PlaceOptions,
): Promise<void> {
  const isDrawn = (file: ReviewFile) => hasThumb(file) || file.is === 'audio';
  const all = files.filter(({ file }) => isDrawn(file)).length;
  let done = 0;
  await eachAtOnce(files, atOnce, async (one) => {
    if (signal?.aborted) return;
    const thumb = hasThumb(one.file) ? await thumbs.get(one.file, async () => one.path) : undefined;
    const jpeg = thumb !== undefined && 'jpeg' in thumb ? thumb.jpeg : undefined;
    const wave = one.file.is === 'audio' ? await waveOf(one) : undefined;
    if (wave !== undefined) for (const mention of one.mentions) mention.wave = wave;
    await place.add(one, jpeg);
    if (!isDrawn(one.file)) return;
    done += 1;
    onThumb?.(done, all);
  });
}

/**
 * The right to be the only report that writes a folder: each removes what its own page does not show, and would remove what
 * another one is about to. Returns its end. MB3301 while another process writes it; one that was killed holds nobody off.
 * `state`: the `.mediabatch/` of the campaign; where it cannot be written nothing is held. `shown`: as a person knows it.
 */
export async function holdGallery(state: string, { path, shown }: Place): Promise<() => Promise<void>> {
  const name = `report-${createHash('sha256').update(path).digest('hex').slice(0, 16)}`;
  const answer = await takeGuard(join(dirname(state), name), { waitMs: 0, clock: systemClock }).catch(orUnheld);
  if (answer?.is === 'held') {
    const { by, note } = answer;
    const who = note ?? `process ${by.pid} on ${by.host}, since ${by.since}`;
    throw unwritten(
      shown,
      `is being written by another report: ${who}`,
      'wait for it, or give another place with --out',
    );
  }
  return async () => answer?.guard.release();
}

interface Place {
  path: string;
  shown: string;
}

function orUnheld(error: unknown): undefined {
  if (error instanceof UnsafeFileError || (error instanceof Error && 'syscall' in error)) return undefined;
  throw error;
}
