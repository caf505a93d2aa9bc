import type { ReviewAsset } from '../../contract/review.ts';
import { isPlanned, type Strip } from '../model/filter.ts';
import type { Line } from '../model/moves.ts';

export interface PartOfStrip extends Strip {
  from: number;
}

/** Row of the groups view: whole strips side by side, a part of a strip, or groups without purchases. */
export interface Row {
  strips: readonly PartOfStrip[];
  height: number;
  planned?: Strip[];
}

/** Dimensions for lines of pictures, in CSS pixels. */
export interface PictureRoom {
  width: number;
  gap: number;
  frame: number;
  shapeOf(asset: ReviewAsset): number;
}

export interface Room extends PictureRoom {
  height: number;
  head: number;
  /** Height of a line of tiles without its pictures, in CSS pixels. */
  below: number;
  isLow(asset: ReviewAsset): boolean;
}

/** Minimum width of a tile, in CSS pixels. */
const narrowest = 104;
/** Maximum aspect ratio of a picture. Wider pictures are letterboxed. */
const widestShape = 3;
const leastBeside = 0.75;
/** Minimum factor by which one more line must enlarge the pictures of a group. */
const worthALine = 1.2;
/** Pictures may be lower than the minimum height, down to this share of it, if that saves a line. */
const nearlyLeast = 0.9;
/** Maximum number of assets on one line, if the window has at least the width `from` in CSS pixels. */
const oneLine = { most: 3, from: 700 };
const mostLines = 6;

/**
 * Arranges strips in rows. All pictures of a group have one height, the largest at which the whole group is visible.
 * Groups of one task are side by side if their pictures become only slightly smaller. Groups of one task without
 * purchases share a row, unless no group has purchases.
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
    // A row that shows only a part of a group has no task, so it is never shared.
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

const laid = new WeakMap<Strip, LaidGroup & { room: Room }>();

function layKnown(strip: Strip, room: Room): LaidGroup {
  const known = laid.get(strip);
  if (known?.room === room) return known;
  const own = { ...layGroup(strip.assets, room), room };
  laid.set(strip, own);
  return own;
}

/**
 * Breaks a group into as many lines as give the largest pictures. If the group does not fit into the visible area, its
 * pictures have the minimum height.
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

export function widthIn(room: PictureRoom, asset: ReviewAsset, height: number): number {
  return Math.floor(shapeIn(room, asset) * height);
}

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
