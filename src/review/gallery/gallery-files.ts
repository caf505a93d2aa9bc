import { basename, extname, isAbsolute, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewData, ReviewFile } from '../../contract/review.ts';
import { checkOutputs } from '../../disk/outputs/check-outputs.ts';
import { groupBy } from '../../ground/values.ts';
import type { FileFinder } from '../find-files.ts';

/** A file that the gallery shows, and everything that tells of it there. */
export interface GalleryFile {
  /** Absolute. */
  path: string;
  file: ReviewFile;
  mentions: readonly ReviewFile[];
}

/** Place to which a gallery goes. */
export interface GalleryPlace {
  /** Takes a file in, and tells those who mention it where the page finds it. */
  add(file: GalleryFile, jpeg: Uint8Array | undefined): Promise<void>;
  /** Writes the page. Returns its length in bytes. */
  finish(data: ReviewData & { report: ReportParts }): Promise<number>;
}

/**
 * The files of a gallery that are there, with the bytes that were bought: a page on disk cannot check that when it shows
 * them. All others are marked as what they are.
 */
export async function findFiles(
  data: ReviewData,
  { paths, seen }: Pick<OpenCampaign, 'paths' | 'seen'>,
  finder: FileFinder,
): Promise<GalleryFile[]> {
  const all = data.assets.flatMap(({ files, earlier, before }) => [
    ...files,
    ...earlier.flatMap((one) => one.files),
    ...(before?.files ?? []),
  ]);
  const groups = [...groupBy(all.filter(isThere), ({ sha256, path }) => `${sha256} ${path}`).values()];
  const placed = groups.flatMap(([file]) => (file !== undefined && finder.placeOf(file) === 'placed' ? [file] : []));
  const states = await checkOutputs(paths.outputs, placed, { seen });
  const found: GalleryFile[] = [];
  for (const mentions of groups) {
    const [file] = mentions;
    if (file === undefined) continue;
    const isPlaced = finder.placeOf(file) === 'placed';
    const path = isPlaced ? join(paths.outputs, file.path) : await finder.find(file);
    const isIntact = isPlaced ? states.get(file.path) === 'intact' : path !== undefined;
    if (isIntact && path !== undefined) found.push({ path, file, mentions });
    else for (const one of mentions) one.problem = isPlaced ? 'damaged' : 'missing';
  }
  for (const asset of data.assets) {
    asset.earlier = asset.earlier.map((one) => ({ ...one, files: one.files.filter(isThere) }));
    if (asset.before) asset.before = { ...asset.before, files: asset.before.files.filter(isThere) };
  }
  return found;
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

/** `images/lamp.png` as `media/lamp-0123456789ab.png`: what it is called, and what tells it from its namesakes. */
export function nameOfCopy({ path, sha256 }: ReviewFile): string {
  const ending = extname(path);
  return `media/${basename(path, ending)}-${sha256.slice(0, 12)}${ending}`;
}
