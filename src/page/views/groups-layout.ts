import type { ReviewAsset } from '../../contract/review.ts';
import { isPlanned, type Strip } from '../model/filter.ts';
import type { Line } from '../model/moves.ts';

export interface PartOfStrip extends Strip {
  /** Place of its first asset in the strip. */
  from: number;
}

/** One row of the groups view: whole strips side by side, or one strip, or a part of it, or groups without purchases. */
export interface Row {
  strips: readonly PartOfStrip[];
  /** CSS pixels of all its pictures: they differ in width only. */
  height: number;
  /** Strips of one task that one line stands for. */
  planned?: Strip[];
}

/** Where rows are laid out. Lengths are CSS pixels. */
export interface Room {
  width: number;
  /** Height that is seen at once. */
  height: number;
  /** Between tiles, and what a tile has beside its picture. */
  gap: number;
  frame: number;
  /** Lengths of the head of a group, and of a line of tiles beside its pictures. */
  head: number;
  below: number;
  /** Width to height of a picture. */
  shapeOf(asset: ReviewAsset): number;
  /** A sound needs less height than a picture. */
  isLow(asset: ReviewAsset): boolean;
}

/** A tile is no narrower than its caption can bear; a panorama has bands above and below. */
const narrowest = 104;
const widestShape = 3;
/** Part of their size that pictures keep where groups stand side by side. */
const leastBeside = 0.75;
/** How much larger pictures have to be for one line more. */
const worthALine = 1.2;
/** Lines of a group that is seen at once. */
const mostLines = 6;

/**
 * Lays strips into rows: a group is seen whole, each of its pictures in one height, as large as the view has room for. Groups
 * of one task stand side by side where that costs them little of their size. Groups without purchases fold into one row for
 * each task, unless there are no others.
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
    const { lines, height } = layGroup(assets, room);
    // Only a row of whole groups has a task.
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

/** The number of lines in which the pictures of a group are largest while all of it is seen at once; else the fewest that can be looked at. */
function layGroup(assets: readonly ReviewAsset[], room: Room): { lines: ReviewAsset[][]; height: number } {
  const { least, most } = heightsOf(assets, room);
  const lay = (count: number) => {
    const lines = breakStrip(assets, count, room);
    return { lines, height: Math.floor(Math.min(most, ...lines.map((line) => fullHeight(line, room)))) };
  };
  const seenAtOnce = Array.from({ length: Math.min(assets.length, mostLines) }, (_, index) => {
    const { lines, height } = lay(index + 1);
    return { lines, height: Math.floor(Math.min(height, (room.height - room.head) / lines.length - room.below)) };
  });
  const best = seenAtOnce.reduce((one, other) => (other.height > one.height * worthALine ? other : one));
  if (best.height >= least) return best;
  const width = assets.reduce((sum, asset) => sum + shapeIn(room, asset) * least + room.frame + room.gap, 0);
  return lay(Math.ceil(width / (room.width + room.gap)));
}

/**
 * The same rows, with the current content of strips that differ from `before`. Undefined when rows or shapes changed, which
 * needs a new layout.
 */
export function withStrips(
  rows: readonly Row[],
  { before, now, room }: { before: readonly Strip[]; now: readonly Strip[]; room: Room },
): Row[] | undefined {
  if (before.length !== now.length) return undefined;
  const isAlike = (asset: ReviewAsset, old: ReviewAsset | undefined) =>
    asset === old ||
    (asset.address === old?.address &&
      room.shapeOf(asset) === room.shapeOf(old) &&
      room.isLow(asset) === room.isLow(old));
  const others = new Map<string, Strip>();
  for (const [index, strip] of now.entries()) {
    const old = before[index];
    if (strip === old) continue;
    const isSame = strip.group.group.task === old?.group.group.task && strip.assets.length === old.assets.length;
    if (
      !isSame ||
      isPlanned(strip) !== isPlanned(old) ||
      !strip.assets.every((asset, at) => isAlike(asset, old.assets[at]))
    )
      return undefined;
    others.set(strip.group.group.name, strip);
  }
  const nowOf = (strip: Strip) => others.get(strip.group.group.name) ?? strip;
  return rows.map((row) => {
    if (row.planned !== undefined) return { ...row, planned: row.planned.map(nowOf) };
    if (!row.strips.some(({ group }) => others.has(group.group.name))) return row;
    const strips = row.strips.map((part) => {
      const { group, assets } = others.get(part.group.group.name) ?? part;
      const own = assets === part.assets ? assets : assets.slice(part.from, part.from + part.assets.length);
      return { group, assets: own, from: part.from };
    });
    return { ...row, strips };
  });
}

/** Breaks assets into at most `count` lines of about the same width. */
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

/** The height at which these fill the width. */
function fullHeight(assets: readonly ReviewAsset[], room: Room): number {
  const shapes = assets.reduce((sum, asset) => sum + shapeIn(room, asset), 0);
  return Math.max(1, (room.width + room.gap - assets.length * (room.frame + room.gap)) / shapes);
}

function heightsOf(assets: readonly ReviewAsset[], room: Room): { least: number; most: number } {
  const usual = usualHeight(room) * (assets.every(room.isLow) ? 0.4 : 1);
  return { least: usual * 0.6, most: usual * 1.5 };
}

function usualHeight({ width }: Room): number {
  return Math.min(240, Math.max(120, width / 6));
}

function shapeIn(room: Room, asset: ReviewAsset): number {
  return Math.min(widestShape, Math.max(narrowest / usualHeight(room), room.shapeOf(asset)));
}

/** CSS pixels of the picture of an asset in a row of this height. */
export function widthIn(room: Room, asset: ReviewAsset, height: number): number {
  return Math.floor(shapeIn(room, asset) * height);
}

/** The lines of tiles in which arrows go up and down. */
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
