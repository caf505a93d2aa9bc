import type { ReviewAsset } from '../../contract/review.ts';
import { isPlanned, type Strip } from '../model/filter.ts';
import type { Line } from '../model/moves.ts';

export interface PartOfStrip extends Strip {
  /** Index of the part's first asset in the strip. */
  from: number;
}

/** One row of the groups view: whole strips side by side, one strip or a part of it, or groups without purchases. */
export interface Row {
  strips: readonly PartOfStrip[];
  /** Height of its pictures, in CSS pixels; their widths differ. */
  height: number;
  /** Strips of one task without purchases that share this row. */
  planned?: Strip[];
}

/** Measures of lines of pictures, in CSS pixels. */
export interface PictureRoom {
  width: number;
  /** Gap between tiles, and horizontal frame of a tile around its picture. */
  gap: number;
  frame: number;
  /** Returns the aspect ratio (width / height) of a picture. */
  shapeOf(asset: ReviewAsset): number;
}

/** Measures of the layout, in CSS pixels. */
export interface Room extends PictureRoom {
  height: number;
  /** Height of a group's head, and vertical frame of a line of tiles. */
  head: number;
  below: number;
  /** Whether an asset needs little height, as sounds do. */
  isLow(asset: ReviewAsset): boolean;
}

/**
 * Minimum width of a tile, which its caption needs, in CSS pixels; and maximum aspect ratio, above which pictures are
 * letterboxed.
 */
const narrowest = 104;
const widestShape = 3;
/** Minimum scale of pictures, compared to full size, for which groups are placed side by side. */
const leastBeside = 0.75;
/** Minimum enlargement of pictures that justifies one more line. */
const worthALine = 1.2;
/** Share of the minimum height that saves a line. */
const nearlyLeast = 0.9;
/** Maximum number of assets that share one line in a window of at least this width, in CSS pixels. */
const oneLine = { most: 3, from: 700 };
/** Maximum number of lines of a group that fits the visible height. */
const mostLines = 6;

/**
 * Lays strips out in rows. A group is visible as a whole, with pictures of one height, as large as possible. Groups of
 * one task are placed side by side if that reduces their size only slightly. Groups without purchases share one row per
 * task, unless there are no others.
 */
export function layRows(strips: readonly Strip[], room: Room): Row[] {
  const rows: (Row & { task?: string; own: number })[] = [];
  const folds = !strips.every(isPlanned);
  for (const strip of strips) {
    const { group, assets } = strip;
    const { task } = group.group;
    const last = rows.at(-1);
    if (folds && isPlanned(strip)) {
      if (last?.planned !== undefined && last.task === task) last.planned.push(strip);
      else rows.push({ strips: [], height: 0, own: 0, task, planned: [strip] });
      continue;
    }
    const { lines, height } = layKnown(strip, room);
    // Only a row of whole groups has a task, so only whole groups are joined.
    if (last?.task === task && last.planned === undefined) {
      const together = Math.floor(fullHeight([...last.strips.flatMap((one) => one.assets), ...assets], room));
      const own = Math.max(height, last.own);
      if (together >= own * leastBeside) {
        last.strips = [...last.strips, { group, assets, from: 0 }];
        Object.assign(last, { height: Math.min(own, together), own });
        continue;
      }
    }
    let from = 0;
    for (const line of lines) {
      const isWhole = lines.length === 1;
      rows.push({ strips: [{ group, assets: line, from }], height, own: height, ...(isWhole && { task }) });
      from += line.length;
    }
  }
  return rows;
}

interface LaidGroup {
  lines: ReviewAsset[][];
  height: number;
}

/** Layouts of strips: most strips are the same after a verdict. */
const laid = new WeakMap<Strip, LaidGroup & { room: Room }>();

function layKnown(strip: Strip, room: Room): LaidGroup {
  const known = laid.get(strip);
  if (known?.room === room) return known;
  const own = { ...layGroup(strip.assets, room), room };
  laid.set(strip, own);
  return own;
}

/**
 * Breaks a group into the number of lines with the largest pictures for which it is visible as a whole; otherwise into
 * the fewest lines with pictures of the minimum height.
 */
function layGroup(assets: readonly ReviewAsset[], room: Room): LaidGroup {
  const { least, most } = heightsOf(assets, room);
  const lay = (count: number) => {
    const lines = breakStrip(assets, count, room);
    return { lines, height: Math.floor(Math.min(most, ...lines.map((line) => fullHeight(line, room)))) };
  };
  const seenAtOnce = Array.from({ length: Math.min(assets.length, mostLines) }, (_, index) => {
    const { lines, height } = lay(index + 1);
    return { lines, height: Math.floor(Math.min(height, (room.height - room.head) / lines.length - room.below)) };
  });
  const [row] = seenAtOnce;
  if (row !== undefined && assets.length <= oneLine.most && room.width >= oneLine.from && row.height >= least)
    return row;
  const best = seenAtOnce.reduce((one, other) => (other.height > one.height * worthALine ? other : one));
  if (best.height >= least) return best;
  const all = assets.map((_, index) => lay(index + 1));
  return all.find(({ height }) => height >= least * nearlyLeast) ?? best;
}

/** Breaks assets into at most `count` lines of similar width. */
function breakStrip(assets: readonly ReviewAsset[], count: number, room: Room): ReviewAsset[][] {
  const widths = assets.map((asset) => shapeIn(room, asset) * usualHeight(room) + room.frame + room.gap);
  const all = widths.reduce((sum, width) => sum + width, 0);
  const lines: ReviewAsset[][] = [];
  let before = 0;
  assets.forEach((asset, index) => {
    const width = widths[index] ?? 0;
    const line = Math.min(count - 1, Math.ceil(((before + width / 2) / all) * count) - 1);
    before += width;
    const own = lines[line];
    if (own === undefined) lines[line] = [asset];
    else own.push(asset);
  });
  return lines.filter((line) => line !== undefined);
}

/** Height at which these assets fill the width. */
export function fullHeight(assets: readonly ReviewAsset[], room: PictureRoom): number {
  const shapes = assets.reduce((sum, asset) => sum + shapeIn(room, asset), 0);
  return Math.max(1, (room.width + room.gap - assets.length * (room.frame + room.gap)) / shapes);
}

function heightsOf(assets: readonly ReviewAsset[], room: Room): { least: number; most: number } {
  const usual = usualHeight(room) * (assets.every(room.isLow) ? 0.4 : 1);
  return { least: usual * 0.6, most: usual * 1.5 };
}

function usualHeight({ width }: PictureRoom): number {
  return Math.min(240, Math.max(120, width / 6));
}

function shapeIn(room: PictureRoom, asset: ReviewAsset): number {
  return Math.min(widestShape, Math.max(narrowest / usualHeight(room), room.shapeOf(asset)));
}

/** Width of an asset's picture in a row of this height, in CSS pixels. */
export function widthIn(room: PictureRoom, asset: ReviewAsset, height: number): number {
  return Math.floor(shapeIn(room, asset) * height);
}

/** Lines of tiles for the up and down arrow keys. */
export function linesOf(rows: readonly Row[], room: Room): Line[] {
  return rows.flatMap(({ strips, height, planned }) => {
    if (planned !== undefined) return [];
    let at = 0;
    const line = strips
      .flatMap(({ assets }) => assets)
      .map((asset) => {
        const width = widthIn(room, asset, height) + room.frame + room.gap;
        at += width;
        return { address: asset.address, at: at - width / 2 };
      });
    return [line];
  });
}
