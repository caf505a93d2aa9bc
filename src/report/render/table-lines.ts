import { type Block, type Column, faint, type Text, wordsOf } from '../document.ts';
import { cut, type Line, paintLine, type Screen, widestWord, widthOfText, wrap } from './spans.ts';

type Table = Extract<Block, { is: 'table' }>;

interface Shown {
  column: Column;
  cells: Text[];
  title: Text;
  /** Width in columns if nothing is cut. */
  width: number;
}

const gap = 2;
const mostLines = 20;
const belowIndent = 4;

/**
 * Rows in columns. If the terminal is too narrow, spare columns are cut and omitted first. Next, columns that may be
 * below their row are moved there. Then the widest column is cut, and finally each row becomes a block of lines.
 */
export function tableLines({ columns, rows, hasHead }: Table, screen: Screen): string[] {
  const all = columns.flatMap((column, index): Shown[] => {
    const cells = rows.map((row) => trimmed(row[index] ?? ''));
    const title = hasHead === false ? '' : faint(column.title);
    if (cells.every((cell) => wordsOf(cell) === '')) return [];
    return [{ column, cells, title, width: widest([title, ...cells], (text) => widthOfText(text, screen)) }];
  });
  if (all.length === 0) return [];
  const shown = withoutSpare(all, screen);
  const isBelow = ({ column }: Shown) => column.below === true;
  const widths = fitWidths(
    shown,
    screen,
    [isSpare, isBelow].find((is) => shown.some(is)),
  );
  if (widths !== undefined) return linesIn(shown, widths, screen);
  const beside = shown.filter((one) => !isBelow(one));
  const narrow = beside.length < shown.length ? fitWidths(beside, screen) : undefined;
  if (narrow === undefined) return blockLines(all, rows.length, screen);
  const under = shown.filter(isBelow);
  return linesIn(beside, narrow, screen, (row) => {
    const text = under.flatMap(({ cells }) => cells[row] ?? []);
    const lines =
      wordsOf(text) === ''
        ? []
        : wrap(text, { ...screen, room: screen.room - belowIndent }, { mark: 'faint', isHard: true });
    return lines.map((line) => ' '.repeat(belowIndent) + paintLine(line, screen.style));
  });
}

const isSpare = ({ column }: Shown) => column.spare === true;

/** Omits spare columns, the last one first, until the other columns fit uncut. */
function withoutSpare(shown: readonly Shown[], screen: Screen): readonly Shown[] {
  const last = shown.findLast(isSpare);
  if (last === undefined || fitWidths(shown, screen, isSpare) !== undefined) return shown;
  return withoutSpare(
    shown.filter((one) => one !== last),
    screen,
  );
}

function trimmed(cell: Text): Text {
  return typeof cell === 'string' ? cell.trim() : cell;
}

function fitWidths(
  shown: readonly Shown[],
  screen: Screen,
  mayShrink: (shown: Shown) => boolean = () => true,
): number[] | undefined {
  const widths = shown.map(({ width }) => width);
  const gaps = shown.slice(1).reduce((sum, _, index) => sum + gapAfter(shown[index]), 0);
  const total = () => widths.reduce((sum, width) => sum + width, gaps);
  if (total() <= screen.room) return widths;
  const least = shown.map((one) => {
    const { column, cells, title } = one;
    if (!mayShrink(one)) return Number.POSITIVE_INFINITY;
    if (column.least !== undefined) return Math.max(column.least, widthOfText(title, screen));
    return column.cut === 'wrap'
      ? widest([title, ...cells], (text) => widestWord(text, screen))
      : Number.POSITIVE_INFINITY;
  });
  for (let excess = total() - screen.room; excess > 0; excess -= 1) {
    const free = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const index = free.indexOf(Math.max(...free));
    if (free[index] === 0) return undefined;
    widths[index] = (widths[index] ?? 0) - 1;
  }
  return widths;
}

function gapAfter(shown: Shown | undefined): number {
  return shown?.column.close === true ? 1 : gap;
}

function widest(texts: readonly Text[], widthOf: (text: Text) => number): number {
  return texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
}

function linesIn(
  shown: readonly Shown[],
  widths: readonly number[],
  screen: Screen,
  below: (row: number) => string[] = () => [],
): string[] {
  const linesOf = (texts: readonly Text[]) => {
    const cells = texts.map((text, index) =>
      fitCell(text, shown[index]?.column, { ...screen, room: widths[index] ?? 0 }),
    );
    const height = cells.reduce((most, { length }) => Math.max(most, length), 1);
    return Array.from({ length: height }, (_, at) =>
      cells
        .map((lines, index) => placed(lines[at], shown[index], widths[index] ?? 0, screen))
        .join('')
        .trimEnd(),
    );
  };
  const head = shown.some(({ title }) => wordsOf(title) !== '') ? linesOf(shown.map(({ title }) => title)) : [];
  const count = shown[0]?.cells.length ?? 0;
  const body = Array.from({ length: count }, (_, row) => [
    ...linesOf(shown.map(({ cells }) => cells[row] ?? '')),
    ...below(row),
  ]);
  return [...head, ...body.flat()];
}

function fitCell(text: Text, column: Column | undefined, screen: Screen): Line[] {
  if (column?.cut === 'wrap') return wrap(text, screen, { most: mostLines, isHard: true });
  return [cut(text, screen, column?.cut ?? 'end')];
}

function placed(line: Line | undefined, shown: Shown | undefined, width: number, { style }: Screen): string {
  const space = ' '.repeat(Math.max(0, width - (line?.width ?? 0)));
  const text = line === undefined ? '' : paintLine(line, style);
  const between = ' '.repeat(gapAfter(shown));
  return shown?.column.align === 'right' ? space + text + between : text + space + between;
}

function blockLines(shown: readonly Shown[], count: number, screen: Screen): string[] {
  const room = widest(
    shown.map(({ title }) => title),
    (title) => widthOfText(title, screen),
  );
  return Array.from({ length: count }, (_, row) => {
    const own = shown.flatMap(({ title, cells, column }) => {
      const cell = cells[row] ?? '';
      if (wordsOf(cell) === '') return [];
      const inner = { ...screen, room: screen.room - room - gap };
      const lines =
        column.cut === 'wrap' ? wrap(cell, inner) : [cut(cell, { ...screen, room: Number.POSITIVE_INFINITY }, 'end')];
      return lines.map((line, at) => {
        const label = at === 0 ? cut(title, screen, 'end') : { pieces: [], width: 0 };
        return `${paintLine(label, screen.style)}${' '.repeat(room - label.width + gap)}${paintLine(line, screen.style)}`;
      });
    });
    return row === 0 ? own : ['', ...own];
  }).flat();
}
