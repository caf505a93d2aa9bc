import type { ReviewAsset } from '../../contract/review.ts';
import type { Strip } from '../model/filter.ts';
import type { Line } from '../model/moves.ts';

/** A strip, or the part of it that stands in one row. */
export interface PartOfStrip extends Strip {
  /** Place of its first asset in the strip. */
  from: number;
}

/** One row of the groups view: whole strips side by side, or one strip, or a part of it. */
export interface Row {
  strips: readonly PartOfStrip[];
  /** CSS pixels of all its pictures: they differ in width only. */
  height: number;
}

/** Where rows are laid out. Lengths are CSS pixels. */
export interface Room {
  width: number;
  /** Between tiles, and what a tile has beside its picture. */
  gap: number;
  frame: number;
  /** Width to height of a picture. */
  shapeOf(asset: ReviewAsset): number;
  /** A sound needs less height than a picture. */
  isLow(asset: ReviewAsset): boolean;
}

/** A tile is no narrower than its caption can bear; a panorama has bands above and below. */
const narrowest = 104;
const widestShape = 3;

/** Lays strips into rows as wide as the room, each with pictures of one height. Strips of one task that fit stand side by side. */
export function layRows(strips: readonly Strip[], room: Room): Row[] {
  const rows: { strips: PartOfStrip[]; assets: readonly ReviewAsset[]; task?: string }[] = [];
  for (const { group, assets } of strips) {
    const { task } = group.group;
    const last = rows.at(-1);
    const together = last?.task === task ? [...last.assets, ...assets] : [];
    if (last !== undefined && together.length > 0 && fullHeight(together, room) >= heightsOf(together, room).least) {
      last.strips.push({ group, assets, from: 0 });
      last.assets = together;
      continue;
    }
    const parts = breakStrip(assets, room);
    let from = 0;
    for (const part of parts) {
      // Beside a part of a strip no other one stands.
      rows.push({ strips: [{ group, assets: part, from }], assets: part, ...(parts.length === 1 && { task }) });
      from += part.length;
    }
  }
  let above = Number.POSITIVE_INFINITY;
  return rows.map(({ strips: own, assets }) => {
    // The last line of a strip is no higher than the one above it.
    const most = own[0]?.from ? above : heightsOf(assets, room).most;
    above = Math.floor(Math.min(fullHeight(assets, room), most));
    return { strips: own, height: above };
  });
}

/**
 * The same rows, with what strips show by now that are not those of `before`. Undefined: there are others, or they have other
 * shapes, and are to be laid anew.
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
    if (!isSame || !strip.assets.every((asset, at) => isAlike(asset, old.assets[at]))) return undefined;
    others.set(strip.group.group.name, strip);
  }
  return rows.map((row) => {
    if (!row.strips.some(({ group }) => others.has(group.group.name))) return row;
    const strips = row.strips.map((part) => {
      const { group, assets } = others.get(part.group.group.name) ?? part;
      const own = assets === part.assets ? assets : assets.slice(part.from, part.from + part.assets.length);
      return { group, assets: own, from: part.from };
    });
    return { ...row, strips };
  });
}

/** Breaks what does not fit into lines of about the same width. */
function breakStrip(assets: readonly ReviewAsset[], room: Room): ReviewAsset[][] {
  const { least } = heightsOf(assets, room);
  const widths = assets.map((asset) => shapeIn(room, asset) * least + room.frame + room.gap);
  const all = widths.reduce((sum, width) => sum + width, 0);
  const count = Math.max(1, Math.ceil(all / (room.width + room.gap)));
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
  return { least: usual * 0.8, most: usual * 1.5 };
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
  return rows.map(({ strips, height }) => {
    let at = 0;
    return strips
      .flatMap(({ assets }) => assets)
      .map((asset) => {
        const width = widthIn(room, asset, height) + room.frame + room.gap;
        at += width;
        return { address: asset.address, at: at - width / 2 };
      });
  });
}
