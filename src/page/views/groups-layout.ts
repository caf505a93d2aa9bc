import type { Strip } from '../model/filter.ts';
import { type Line, linesOfGrid } from '../model/moves.ts';

/** What one row of the groups view holds: whole strips side by side, or one strip of several lines. */
export interface Row {
  strips: readonly Strip[];
  /** Lines of tiles. */
  lines: number;
}

/** Lays strips into rows of `columns` tiles. Strips of one task that fit stand side by side. */
export function layRows(strips: readonly Strip[], columns: number): Row[] {
  const rows: { strips: Strip[]; lines: number; used: number }[] = [];
  for (const strip of strips) {
    const { length } = strip.assets;
    const last = rows.at(-1);
    if (last?.strips[0]?.group.group.task === strip.group.group.task && last.used + length <= columns) {
      last.strips.push(strip);
      last.used += length;
    } else rows.push({ strips: [strip], lines: Math.ceil(length / columns), used: length });
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
