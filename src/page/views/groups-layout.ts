import type { Strip } from '../model/filter.ts';
import { type Line, linesOfGrid } from '../model/moves.ts';

/** Lines of one strip in a row: a strip of thousands is never in the page as a whole. */
const mostLines = 2;

/** A strip, or lines of it. */
export interface PartOfStrip extends Strip {
  /** Place of its first asset in the strip. */
  from: number;
}

/** One row of the groups view: whole strips side by side, or one strip, or a part of it, of several lines. */
export interface Row {
  strips: readonly PartOfStrip[];
  /** Lines of tiles. */
  lines: number;
}

/** Lays strips into rows of `columns` tiles. Strips of one task that fit stand side by side; long ones are cut. */
export function layRows(strips: readonly Strip[], columns: number): Row[] {
  const rows: { strips: PartOfStrip[]; lines: number; used: number }[] = [];
  const most = mostLines * columns;
  for (const { group, assets } of strips) {
    const { length } = assets;
    const last = rows.at(-1);
    if (last?.strips[0]?.group.group.task === group.group.task && last.used + length <= columns) {
      last.strips.push({ group, assets, from: 0 });
      last.used += length;
      continue;
    }
    for (let from = 0; from < length; from += most) {
      const part = assets.slice(from, from + most);
      rows.push({ strips: [{ group, assets: part, from }], lines: Math.ceil(part.length / columns), used: length });
    }
  }
  return rows;
}

/**
 * How many columns of at most `most` leave the least room empty; a few less than fit make tiles larger, not smaller than
 * they have to be.
 */
export function bestColumns(strips: readonly Strip[], most: number): number {
  const tiles = strips.reduce((sum, { assets }) => sum + assets.length, 0);
  let best = { columns: most, full: 0 };
  for (let columns = most; columns >= Math.ceil(most / 2); columns -= 1) {
    const lines = layRows(strips, columns).reduce((sum, row) => sum + row.lines, 0);
    const full = tiles / (lines * columns);
    if (full > best.full + 0.1) best = { columns, full };
  }
  return best.columns;
}

/** The lines of tiles in which arrows go up and down. */
export function linesOf(rows: readonly Row[], columns: number): Line[] {
  return rows.flatMap(({ strips }) =>
    linesOfGrid(
      strips.flatMap(({ assets }) => assets),
      columns,
    ),
  );
}
