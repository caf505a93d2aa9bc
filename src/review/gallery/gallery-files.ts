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

/** A file of the gallery, and all data entries that refer to it. */
export interface GalleryFile {
  /** Absolute path. */
  path: string;
  file: ReviewFile;
  mentions: readonly ReviewFile[];
}

export interface GalleryPlace {
  /** Adds a file, and sets its URL in all entries that refer to it. */
  add(file: GalleryFile, jpeg: Uint8Array | undefined): Promise<void>;
  /**
   * Whether the files added so far fit the size limit. If not, all of them have to be added again, at a smaller size;
   * throws MB3301 if that cannot help.
   */
  fits(): Promise<boolean>;
  /** Longer side of reduced pictures in pixels; undefined if they are not reduced. */
  readonly side?: number | undefined;
  /** Writes the page. Returns its size in bytes. */
  finish(data: ReviewData & { report: ReportParts }): Promise<number>;
}

/**
 * Finds the files of a gallery and verifies their bytes, because a page on disk cannot do that. The others are marked
 * with their problem.
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

/**
 * Measures a file of a gallery or sheet. Returns nothing if its path has newer bytes by now. The result is not stored
 * on disk yet.
 */
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

/** Returns the URL of a local file for a page in `folder`: relative if possible, with encoded names. */
export function urlFrom(folder: string, path: string): string {
  const way = relative(folder, path);
  // The file is on another drive.
  if (isAbsolute(way)) return pathToFileURL(path).href;
  return encodePath(way.split(sep).join('/'));
}

export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/**
 * Returns the name of a copy: `media/lamp-0123456789ab.png` for `images/lamp.png`; part of the digest makes it unique.
 * `ending`: extension of a copy in another format.
 */
export function nameOfCopy({ path, sha256 }: ReviewFile, ending = extname(path)): string {
  return `media/${basename(path, extname(path))}-${sha256.slice(0, 12)}${ending}`;
}
