import { join, relative } from 'node:path';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { shownPath } from '../../campaign/paths.ts';
import { nameInGit } from '../../campaign/person.ts';
import { UnsafeFileError } from '../../contract/errors.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewData, ReviewFile } from '../../contract/review.ts';
import { checkOutputs } from '../../disk/outputs/check-outputs.ts';
import { measureFile } from '../../disk/outputs/measure-files.ts';
import { eachAtOnce } from '../../ground/places.ts';
import { defined, groupBy, messageOf } from '../../ground/values.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';
import { FileFinder } from '../find-files.ts';
import { hasThumb, Thumbs } from '../thumbs/thumbs.ts';
import { describeGallery, forClient, type GalleryOptions } from './describe-gallery.ts';
import { type GalleryFile, type GalleryPlace, openPlace, unwritten } from './gallery-place.ts';

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

const atOnce = 16;
export async function makeGallery(campaign: OpenCampaign, options: MakeOptions): Promise<MadeGallery | undefined> {
  const { path, single, client: note, maxBytes } = options;
  const shown = shownPath(path);
  const finder = new FileFinder(campaign.paths);
  const described = await describeGallery(campaign, finder, options);
  const found = await findFiles(described, campaign, finder);
  const by = note === undefined ? undefined : await nameInGit(campaign.paths.folder);
  const data = note === undefined ? described : forClient(described, { note, by });
  const shownFiles = new Set(data.assets.flatMap((asset) => asset.files));
  const files =
    note === undefined ? found : found.filter(({ mentions }) => mentions.some((one) => shownFiles.has(one)));
  const thumbs = new Thumbs(campaign.paths.state);
  const isReduced = files.reduce((all, { file }) => all + file.bytes, 0) > (maxBytes ?? Number.POSITIVE_INFINITY);
  try {
    const { outputs } = campaign.paths;
    const soundOf = async (one: GalleryFile) => {
      const placed = { ...one.file, path: relative(outputs, one.path) };
      const { wave, lufs } = await measurePlaced(campaign, placed, ['wave', 'sound']);
      return wave === undefined ? {} : { wave, ...(lufs !== undefined && { lufs }) };
    };
    const copy = options.copy === true || note !== undefined;
    const place = await openPlace({ path, shown, single, copy, maxBytes, isReduced });
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
    const hint = single ? 'choose a file in an existing folder with enough free space' : undefined;
    throw unwritten(shown, `cannot be written: ${messageOf(error)}`, hint);
  } finally {
    await thumbs.close();
  }
}

interface PlacingOptions extends Pick<MakeOptions, 'onThumb' | 'signal'> {
  thumbs: Thumbs;
  place: GalleryPlace;
  soundOf(file: GalleryFile): Promise<Pick<ReviewFile, 'wave' | 'lufs'>>;
}

async function placeFiles(
  files: readonly GalleryFile[],
  { thumbs, place, soundOf, onThumb, signal }: PlacingOptions,
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

async function findFiles(
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
  const groups = [...groupBy(all.filter(exists), ({ sha256, path }) => `${sha256} ${path}`).values()];
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
    asset.earlier = asset.earlier.map((one) => ({ ...one, files: one.files.filter(exists) }));
    const before = asset.report?.before;
    if (before) before.files = before.files.filter(exists);
  }
  return found;
}

async function measurePlaced(
  { paths, measures }: Pick<OpenCampaign, 'paths' | 'measures'>,
  { path, mediaType, bytes, sha256, isKept }: ReviewFile,
  aspects: readonly Aspect[],
): Promise<MediaFacts> {
  if (isKept === true) return {};
  const output = { path, type: mediaType, bytes, sha256 };
  return measureFile({ root: paths.outputs, kept: measures }, { output, aspects });
}

function exists({ problem }: ReviewFile): boolean {
  return problem === undefined;
}
