import type { ReviewAsset } from '../../contract/review.ts';
import type { Line } from '../model/moves.ts';
import { fullHeight, type PictureRoom, widthIn } from '../views/groups-layout.ts';

export interface Section {
  name: string;
  assets: readonly ReviewAsset[];
}

/** Line of the grid: the head of a section, or assets whose pictures have the same `height` in CSS pixels. */
export type GridLine = { name: string } | { name: string; assets: readonly ReviewAsset[]; height: number };

export const around = 50;
/** Maximum number of rendered cards that still scroll smoothly. */
const mostCards = 120;
/** Number of lines rendered outside the visible area, as in `useRows`. */
const overscan = 4;
const usualHeight = 210;

/** Fills lines with assets. The pictures of a line have one height and fill the width, except in the last line. */
export function layLines(sections: readonly Section[], room: PictureRoom & { height: number }): GridLine[] {
  const usual = heightFor(sections, room);
  return sections.flatMap(({ name, assets }) => {
    const lines: GridLine[] = [{ name }];
    let line: ReviewAsset[] = [];
    let last = usual;
    for (const asset of assets) {
      line.push(asset);
      const height = fullHeight(line, room);
      if (height > usual) continue;
      lines.push({ name, assets: line, height });
      last = height;
      line = [];
    }
    if (line.length > 0) lines.push({ name, assets: line, height: last });
    return lines;
  });
}

function heightFor(sections: readonly Section[], room: PictureRoom & { height: number }): number {
  const all = sections.flatMap(({ assets }) => assets);
  const shape = all.reduce((sum, asset) => sum + widthIn(room, asset, 100) / 100, 0) / Math.max(1, all.length);
  const cards = (height: number) =>
    ((room.width + room.gap) / (shape * height + room.frame + room.gap)) * (room.height / (height + around) + overscan);
  let height = Math.min(usualHeight, Math.max(96, room.width / 3));
  while (cards(height) > mostCards && height < room.width) height += 10;
  return height;
}

export function linesOf(lines: readonly GridLine[], room: PictureRoom): Line[] {
  return lines.flatMap((line) => {
    if (!('assets' in line)) return [];
    let end = 0;
    const placed = line.assets.map((asset) => {
      const width = widthIn(room, asset, line.height) + room.frame + room.gap;
      end += width;
      return { address: asset.address, at: end - width / 2 };
    });
    return [placed];
  });
}
