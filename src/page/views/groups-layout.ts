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

/** The lines of tiles in which arrows go up and down. */
export function linesOf(rows: readonly Row[], columns: number): Line[] {
  return rows.flatMap(({ strips }) =>
    linesOfGrid(
      strips.flatMap(({ assets }) => assets),
      columns,
    ),
  );
}
