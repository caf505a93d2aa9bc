import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { cutMiddle, cutToWidth, displayWidth, padLeft, padRight, wrapText } from '../text-width.ts';

export interface Column {
  title: string;
  align?: 'right';
  /** Narrowest width in columns when cut. Absent: never cut, because people copy it. */
  least?: number;
  /** The part left out when it has to be cut; `wrap`: none, and it goes on in the lines below. Default: the end. */
  cut?: 'middle' | 'wrap';
}

/** `paint` colors the displayed text; the text itself comes from anywhere. */
export type Cell = string | { text: string; paint(text: string): string };

export interface TableOptions {
  style: Style;
  /** Columns of the terminal. Absent: not a terminal, so nothing is cut. */
  width?: number;
}

const gap = '  ';
const longestCell = 2000;
const mostLines = 20;

/**
 * Rows under a header, in columns separated by spaces. A terminal too narrow for the columns that must not be cut gets
 * a block of lines for each row instead. Empty columns are left out. Ends with a line feed; no rows give no text.
 */
export function tableText(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions,
): string {
  const used = columns.map((_, index) => index).filter((index) => rows.some((row) => textOf(row[index]) !== ''));
  const [first] = used;
  if (first === undefined) return '';
  const shown = used.flatMap((index) => {
    const column = columns[index];
    return column === undefined ? [] : [{ column, cells: rows.map((row) => safeCell(row[index])) }];
  });
  const natural = shown.map(({ column, cells }) =>
    cells.reduce((width, { text }) => Math.max(width, displayWidth(text)), displayWidth(column.title)),
  );
  const widths = fitWidths(natural, shown, options.width);
  if (widths === undefined) return blocksText(shown, rows.length, options.style);
  const head = shown.map(({ column }, index) => place(column.title, column, widths[index] ?? 0));
  const lines = [options.style.dim(head.join(gap).trimEnd())];
  for (let row = 0; row < rows.length; row += 1) {
    lines.push(...rowLines(shown, widths, row));
  }
  return `${lines.join('\n')}\n`;
}

interface Shown {
  column: Column;
  cells: { text: string; paint(text: string): string }[];
}

/** Widths that fit, reducing the widest columns first; undefined when uncuttable columns are already too wide. */
function fitWidths(natural: number[], shown: Shown[], width: number | undefined): number[] | undefined {
  const widths = [...natural];
  if (width === undefined) return widths;
  const limit = width - gap.length * (shown.length - 1);
  for (let total = sum(widths); total > limit; total -= 1) {
    let widest: number | undefined;
    for (const [index, { column }] of shown.entries()) {
      const least = Math.max(column.least ?? Number.POSITIVE_INFINITY, displayWidth(column.title));
      const now = widths[index] ?? 0;
      if (now > least && (widest === undefined || now > (widths[widest] ?? 0))) widest = index;
    }
    if (widest === undefined) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** The line of a row, and those below it in which what is wrapped goes on. */
function rowLines(shown: Shown[], widths: number[], row: number): string[] {
  const cells = shown.map(({ column, cells: all }, index) => linesOf(column, all[row]?.text ?? '', widths[index] ?? 0));
  const count = cells.reduce((most, { length }) => Math.max(most, length), 1);
  return Array.from({ length: count }, (_, line) => {
    const parts = shown.map(({ column: { align }, cells: all }, index) => {
      const text = cells[index]?.[line] ?? '';
      const room = ' '.repeat(Math.max(0, (widths[index] ?? 0) - displayWidth(text)));
      const painted = text === '' ? '' : (all[row]?.paint ?? asItIs)(text);
      return align === 'right' ? `${room}${painted}` : `${painted}${room}`;
    });
    return parts.join(gap).trimEnd();
  });
}

function linesOf({ cut }: Column, text: string, width: number): string[] {
  if (cut === 'wrap') return wrapText(text, width, { maxLines: mostLines });
  return [cut === 'middle' ? cutMiddle(text, width) : cutToWidth(text, width)];
}

function blocksText(shown: Shown[], rows: number, style: Style): string {
  const title = Math.max(...shown.map(({ column }) => displayWidth(column.title)));
  const blocks: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const lines = shown.flatMap(({ column, cells }) => {
      const cell = cells[row];
      if (cell === undefined || cell.text === '') return [];
      return [`${style.dim(padRight(column.title, title))}${gap}${cell.paint(cell.text)}`];
    });
    blocks.push(lines.join('\n'));
  }
  return `${blocks.join('\n\n')}\n`;
}

function place(text: string, { align }: Column, width: number): string {
  return align === 'right' ? padLeft(text, width) : padRight(text, width);
}

function safeCell(cell: Cell | undefined): { text: string; paint(text: string): string } {
  // Some build systems read a line that begins with `::` as a command, and any cell may come to begin one.
  const text = safeText(textOf(cell), longestCell)
    .trim()
    .replace(/^:(?=:)/, '\\x3a');
  return { text, paint: cell === undefined || typeof cell === 'string' ? asItIs : cell.paint };
}

function textOf(cell: Cell | undefined): string {
  if (cell === undefined) return '';
  return typeof cell === 'string' ? cell : cell.text;
}

function asItIs(text: string): string {
  return text;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
