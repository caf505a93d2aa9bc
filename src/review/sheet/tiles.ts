import type { ReviewAsset, ReviewData, ReviewFile } from '../../contract/review.ts';
import { loadSharp } from '../../disk/pictures/shrink-picture.ts';
import { eachAtOnce } from '../../ground/places.ts';
import { groupBy } from '../../ground/values.ts';
import { readWave } from '../../ground/wave.ts';
import type { MediaFacts } from '../../plan/outputs/expectation.ts';
import { bytesText, countOf, creditsText, elapsedText } from '../../report/numbers.ts';
import type { Thumb } from '../thumbs/make-thumb.ts';

/** One place on a sheet: an asset, or what it was and is. */
export interface Tile {
  /** Sides of the tile: one; in a comparison two. */
  sides: Side[];
  verdict?: 'picked' | 'rejected';
  /** Lines below, the first for its address. */
  caption: string[];
}

interface Side {
  /** Label above it: `before`, `after`. */
  label?: string;
  /** File that a small picture can be made of. */
  picture?: ReviewFile;
  /** File of sound or film, whose length can be told. */
  lasting?: ReviewFile;
  /** Words in place of a picture. */
  words: string;
  isBad: boolean;
}

/** The tiles of a task, in the order of the manifest. */
export interface Section {
  title: string;
  detail: string;
  tiles: Tile[];
  /** Number of tiles that belong together each; 1: each stands for itself, or the numbers differ. */
  together: number;
}

export interface Contents {
  title: string;
  detail: string;
  sections: Section[];
}

/** Control characters, and those that turn a line around. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const longest = 200;

/** Lists what stands on the sheets: all that was bought or went wrong; of a comparison, what is not what it was. */
export function listContents(data: ReviewData): Contents {
  const { assets, campaign, report } = data;
  const compare = report?.compare;
  const isShown = compare === undefined ? hasHappened : isOther;
  const shown = assets.filter(isShown);
  const places = new Map(data.groups.flatMap(({ members }, group) => members.map((index) => [assets[index], group])));
  const inOrder = data.groups.flatMap(({ members }) => members.flatMap((index) => assets[index] ?? []));
  const sections = [...groupBy(inOrder.filter(isShown), ({ task }) => task)].map(([task, own]): Section => {
    const sizes = new Set([...groupBy(own, (asset) => String(places.get(asset)))].map(([, members]) => members.length));
    const [size = 1] = sizes;
    return {
      title: clean(task),
      detail: `${own[0]?.kind ?? ''} · ${own.length}`,
      tiles: own.map((asset) => (compare === undefined ? tileOf(asset) : pairOf(asset))),
      together: sizes.size === 1 ? size : 1,
    };
  });
  return { title: clean(campaign), detail: tellCounts(data, shown), sections };
}

function hasHappened({ state, files }: ReviewAsset): boolean {
  return files.length > 0 || state === 'failed' || state === 'unresolved';
}

function isOther({ before, files }: ReviewAsset): boolean {
  if (before === undefined) return false;
  if (before === null) return files.length > 0;
  return before.files.map(({ sha256 }) => sha256).join() !== files.map(({ sha256 }) => sha256).join();
}

function tellCounts({ assets, report }: ReviewData, shown: readonly ReviewAsset[]): string {
  const compare = report?.compare;
  const count = (isOne: (asset: ReviewAsset) => boolean) => shown.filter(isOne).length;
  const parts: [number, string][] = [
    [count(({ verdict }) => verdict?.is === 'picked'), 'picked'],
    [count(({ verdict }) => verdict?.is === 'rejected'), 'rejected'],
    [count(({ state }) => state === 'changed'), 'bought before their input changed'],
    [count(({ state }) => state === 'failed' || state === 'unresolved'), 'failed'],
    [compare === undefined ? assets.filter(({ state }) => state === 'planned').length : 0, 'not bought yet'],
  ];
  const spent = shown.reduce((sum, { credits }) => sum + (credits ?? 0), 0);
  const unchanged = assets.length - shown.length;
  return [
    ...(compare === undefined ? [countOf(shown.length, 'asset')] : [tellComparison(compare, shown.length, unchanged)]),
    ...parts.flatMap(([number, words]) => (number > 0 ? [`${creditsText(number)} ${words}`] : [])),
    ...(spent > 0 ? [countOf(spent, 'credit')] : []),
  ].join(' · ');
}

function tellComparison({ ref, commit }: { ref: string; commit: string }, others: number, unchanged: number): string {
  const found = commit.startsWith(ref) ? '' : ` (${commit.slice(0, 7)})`;
  const what = others === 0 ? 'nothing to see has changed' : `${creditsText(others)} changed`;
  return `compared with ${clean(ref)}${found} · ${what}${unchanged > 0 ? ` · ${creditsText(unchanged)} as before` : ''}`;
}

function tileOf(asset: ReviewAsset): Tile {
  return { sides: [sideOf(asset)], ...judged(asset), caption: captionOf(asset) };
}

function pairOf(asset: ReviewAsset): Tile {
  const { before } = asset;
  const [file, ...more] = before?.files ?? [];
  const absent = before == null ? 'was not there' : 'its file is not on this disk any more';
  const earlier = file === undefined ? { words: absent, isBad: false } : showFile(file, more.length);
  const words = before?.changed.length ? [`other ${clean(before.changed.join(', '))}`] : [];
  return {
    sides: [
      { ...earlier, label: 'before' },
      { ...sideOf(asset), label: 'after' },
    ],
    ...judged(asset),
    caption: [...captionOf(asset), ...words],
  };
}

function judged({ verdict }: ReviewAsset): Pick<Tile, 'verdict'> {
  return verdict === undefined ? {} : { verdict: verdict.is };
}

function sideOf(asset: ReviewAsset): Side {
  const { files, state, error } = asset;
  const [file, ...more] = files;
  if (file !== undefined) return showFile(file, more.length);
  switch (state) {
    case 'failed':
      return { words: error === undefined ? 'failed' : `failed: ${clean(error)}`, isBad: true };
    case 'unresolved':
      return { words: 'was sent, and nobody knows how it ended', isBad: true };
    case 'running':
      return { words: 'is being made', isBad: false };
    case 'planned':
      return { words: 'not bought yet', isBad: false };
    default:
      return { words: 'has no file', isBad: true };
  }
}

function showFile(file: ReviewFile, more: number): Side {
  const { is, mediaType, bytes, problem } = file;
  if (problem === 'missing') return { words: `${clean(file.path)} is not on this disk`, isBad: true };
  if (problem === 'damaged') return { words: `${clean(file.path)} is not what was saved`, isBad: true };
  const others = more === 0 ? '' : `, and ${countOf(more, 'more file')}`;
  const words = `${clean(mediaType)} · ${bytesText(bytes)}${others}`;
  if (is === 'image') return { picture: file, words, isBad: false };
  return { ...(is !== 'other' && { lasting: file }), words, isBad: false };
}

function captionOf(asset: ReviewAsset): string[] {
  const { address, row, state, credits, verdict, files } = asset;
  const facts = [
    ...(verdict === undefined ? [] : [verdict.is]),
    ...(state === 'changed' ? ['input has changed since'] : []),
    ...(state === 'running' && files.length > 0 ? ['is being made anew'] : []),
    ...(credits === undefined ? [] : [credits === 1 ? '1 credit' : `${creditsText(credits)} credits`]),
    ...(row === undefined ? [] : [clean(row)]),
  ];
  return [
    clean(address),
    ...(facts.length > 0 ? [facts.join(' · ')] : []),
    ...(verdict?.note === undefined ? [] : [`“${clean(verdict.note)}”`]),
  ];
}

/** Fit for one line. */
function clean(text: string): string {
  return text.slice(0, longest).replace(unprintable, ' ');
}

/** A side of a tile as it was found on the disk. */
export interface ReadSide extends Pick<Side, 'label' | 'words' | 'isBad'> {
  /** Waveform that stands above the words: 0 to 1, in equal stretches. */
  wave?: readonly number[];
  /** Absent: the words stand in its place. */
  picture?: SmallPicture;
}

/** Pixels. */
interface SmallPicture {
  jpeg: Uint8Array;
  width: number;
  height: number;
}

export interface SideReader {
  /** The small picture of an output. */
  thumbOf(file: ReviewFile): Promise<Thumb>;
  /** How long sound or film is, and the waveform of sound, as far as anybody knows. */
  factsOf?(file: ReviewFile): Promise<Pick<MediaFacts, 'durationSeconds' | 'wave'>>;
}

/** Files that are read at once. */
const atOnce = 32;

/** Reads what the tiles show. What cannot be read is said in words. */
export async function readSides(tiles: readonly Tile[], reader: SideReader): Promise<ReadonlyMap<Side, ReadSide>> {
  const sides = tiles.flatMap((tile) => tile.sides);
  const found = new Map<Side, ReadSide>();
  await eachAtOnce(sides, atOnce, async (side) => found.set(side, await readSide(side, reader)));
  return found;
}

async function readSide({ picture, lasting, ...side }: Side, reader: SideReader): Promise<ReadSide> {
  if (picture !== undefined) {
    const thumb = await reader.thumbOf(picture);
    if ('problem' in thumb) return { ...side, words: `its picture ${thumb.problem}`, isBad: true };
    const sharp = await loadSharp();
    const { width, height } = await sharp(thumb.jpeg).metadata();
    return { ...side, picture: { jpeg: thumb.jpeg, width, height } };
  }
  const { durationSeconds, wave } = (lasting && (await reader.factsOf?.(lasting))) ?? {};
  const length = durationSeconds === undefined ? '' : `${elapsedText(durationSeconds * 1000)} · `;
  return { ...side, words: `${length}${side.words}`, ...(wave !== undefined && { wave: readWave(wave) }) };
}
