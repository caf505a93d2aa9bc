import { basename, extname, isAbsolute, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewData, ReviewFile } from '../../contract/review.ts';
import { checkOutputs } from '../../disk/outputs/check-outputs.ts';
import { measureFile } from '../../disk/outputs/measure-files.ts';
import { groupBy } from '../../ground/values.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';
import type { FileFinder } from '../find-files.ts';

/** A file that the gallery shows, and everything that tells of it there. */
export interface GalleryFile {
  /** Absolute. */
  path: string;
  file: ReviewFile;
  mentions: readonly ReviewFile[];
}

export interface GalleryPlace {
  /** Takes a file in, and tells those who mention it where the page finds it. */
  add(file: GalleryFile, jpeg: Uint8Array | undefined): Promise<void>;
  /** Whether the files added so far fit the limit. If not, add all of them again, smaller; if that cannot help: MB3301. */
  fits(): Promise<boolean>;
  /** Pixels of the longer side of pictures, where they are smaller than they were. */
  readonly side?: number | undefined;
  /** Writes the page. Returns its length in bytes. */
  finish(data: ReviewData & { report: ReportParts }): Promise<number>;
}

/**
 * The files of a gallery that are there, with the bytes that were bought: a page on disk cannot check that when it shows
 * them. All others are marked as what they are.
 */
export async function findFiles(
  data: ReviewData,
  campaign: Pick<OpenCampaign, 'paths' | 'seen' | 'measures'>,
  finder: FileFinder,
): Promise<GalleryFile[]> {
  const { paths, seen, measures } = campaign;
  const all = data.assets.flatMap(({ files, earlier, before }) => [
    ...files,
    ...earlier.flatMap((one) => one.files),
    ...(before?.files ?? []),
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
    if (asset.before) asset.before = { ...asset.before, files: asset.before.files.filter(isThere) };
  }
  return found;
}

/** Measures a file of a gallery or sheet. Of one whose path newer bytes have by now, nothing. Keeps nothing on the disk yet. */
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

/** Returns the URL of a file of this disk for a page in `folder`: relative where it can be, each name encoded. */
export function urlFrom(folder: string, path: string): string {
  const way = relative(folder, path);
  // On another drive.
  if (isAbsolute(way)) return pathToFileURL(path).href;
  return encodePath(way.split(sep).join('/'));
}

export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/**
 * `images/lamp.png` as `media/lamp-0123456789ab.png`: what it is called, and what tells it from its namesakes. `ending`: of a
 * copy in another format.
 */
export function nameOfCopy({ path, sha256 }: ReviewFile, ending = extname(path)): string {
  return `media/${basename(path, extname(path))}-${sha256.slice(0, 12)}${ending}`;
}
