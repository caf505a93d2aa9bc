import {
  type Block,
  type Column,
  type Document,
  type Fact,
  faint,
  type Mark,
  spansOf,
  type Text,
  wordsOf,
} from '../document.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { cutMiddle, cutToWidth, displayWidth } from '../text-width.ts';

interface Look {
  style: Style;
  /**
   * Width of the terminal in columns, at least 20. If omitted, the output is a file or a pipe and is not wrapped or
   * cut.
   */
  width?: number | undefined;
}

const leastWidth = 20;
const gap = 2;
const indent = 2;
const codeIndent = 4;

export function terminalText(document: Document, { style, width }: Look): string {
  const screen = { style, room: width === undefined ? Number.POSITIVE_INFINITY : Math.max(leastWidth, width) };
  const blocks = document.map((block) => blockLines(block, screen)).filter((lines) => lines.length > 0);
  return blocks.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

export function blockLines(block: Block | undefined, screen: Screen): string[] {
  switch (block?.is) {
    case undefined:
    case 'folded':
      return [];
    case 'heading':
      return wrap(block.text, screen, { mark: 'strong' }).map((line) => paintLine(line, screen.style));
    case 'paragraph':
      return wrapped(block.text, screen);
    case 'line':
      return statementLines(block, screen);
    case 'stack':
      return tight(block.blocks, screen);
    case 'list':
      return listLines(block, screen);
    case 'facts':
      return factLines(block.facts, screen);
    case 'table':
      return tableLines(block, screen);
    case 'code':
      return codeLines(block, screen.style);
    default:
      return block satisfies never;
  }
}

export function wrapped(text: Text, screen: Screen, hang = 0): string[] {
  const [first = '', ...others] = wrap(text, screen, { hang }).map((line) => paintLine(line, screen.style));
  return [first, ...indented(others, hang)];
}

function tight(blocks: Document, screen: Screen): string[] {
  return blocks.flatMap((block) => blockLines(block, screen));
}

export function indented(lines: readonly string[], columns: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(columns) + line));
}

function statementLines({ text, run, below = [] }: Extract<Block, { is: 'line' }>, screen: Screen): string[] {
  const inner = indented(tight(below, { ...screen, room: screen.room - indent }), indent);
  if (run === undefined) return [...wrapped(text, screen, indent), ...inner];
  const words = [text, ':'].flat();
  const isWhole = widthOfText(words, screen) + 1 + run.length <= screen.room;
  const own = wrapped(words, screen, indent);
  return [...(isWhole ? [`${own.join('')} ${run}`] : [...own, ' '.repeat(indent) + run]), ...inner];
}

function listLines({ items, isLoose, signs = [] }: Extract<Block, { is: 'list' }>, screen: Screen): string[] {
  return items.flatMap((item, index) => {
    const sign = signs[index] ?? '•';
    const width = widthOfText(sign, screen) + 1;
    const [first = '', ...others] = tight(item, { ...screen, room: screen.room - width });
    const own = [`${wrapped(sign, screen).join('')} ${first}`, ...indented(others, width)];
    return isLoose === true && index > 0 ? ['', ...own] : own;
  });
}

function factLines(facts: readonly Fact[], { style, room }: Screen): string[] {
  const column = facts.reduce((most, { label }) => Math.max(most, widthOfText(label, { style })), 0) + gap;
  const screen = { style, room: Math.max(leastWidth, room - column) };
  return facts.flatMap(({ label, text, below = [] }) => {
    const [first = '', ...others] = [...wrapped(text, screen), ...tight(below, screen)];
    const space = ' '.repeat(column - widthOfText(label, { style }));
    const title = typeof label === 'string' ? faint(label) : label;
    return [`${wrapped(title, screen).join('')}${space}${first}`.trimEnd(), ...indented(others, column)];
  });
}

function codeLines({ text, language, name }: Extract<Block, { is: 'code' }>, style: Style): string[] {
  const hasComments = language === 'sh' || language === 'yaml';
  const lines = text.split('\n').map((whole) => {
    const line = safeText(whole, Number.POSITIVE_INFINITY);
    const [, code = line, comment = ''] = (hasComments && /^(.*?)(\s+#\s.*|^#\s.*)$/.exec(line)) || [];
    return comment === '' ? code : `${code}${style.dim(comment)}`;
  });
  return [...(name === undefined ? [] : [style.dim(`  ${name}`)]), ...indented(lines, codeIndent)];
}

type Table = Extract<Block, { is: 'table' }>;

interface Shown {
  column: Column;
  cells: Text[];
  title: Text;
  width: number;
}

/**
 * Renders rows in columns. If the rows are too wide, cuts the widest columns; if they are still too wide, renders each
 * row as a block of lines.
 */
function tableLines({ columns, rows, hasHead }: Table, screen: Screen): string[] {
  const shown = columns.flatMap((column, index): Shown[] => {
    const cells = rows.map((row) => trimmed(row[index] ?? ''));
    const title = hasHead === false ? '' : faint(column.title);
    if (cells.every((cell) => wordsOf(cell) === '')) return [];
    return [{ column, cells, title, width: widest([title, ...cells], (text) => widthOfText(text, screen)) }];
  });
  if (shown.length === 0) return [];
  const widths = fitWidths(shown, screen);
  return widths === undefined ? rowBlocks(shown, rows.length, screen) : linesIn(shown, widths, screen);
}

function trimmed(cell: Text): Text {
  return typeof cell === 'string' ? cell.trim() : cell;
}

function fitWidths(shown: readonly Shown[], screen: Screen): number[] | undefined {
  const widths = shown.map(({ width }) => width);
  const gaps = shown.slice(0, -1).reduce((sum, one) => sum + gapAfter(one), 0);
  const least = shown.map((one) => leastWidthOf(one, screen));
  for (let excess = widths.reduce((sum, width) => sum + width, gaps) - screen.room; excess > 0; excess -= 1) {
    const free = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const index = free.indexOf(Math.max(...free));
    if (free[index] === 0) return undefined;
    widths[index] = (widths[index] ?? 0) - 1;
  }
  return widths;
}

function leastWidthOf({ column, cells, title, width }: Shown, screen: Screen): number {
  if (column.least !== undefined) return Math.max(column.least, widthOfText(title, screen));
  return column.cut === 'wrap' ? widest([title, ...cells], (text) => widestWord(text, screen)) : width;
}

function gapAfter({ column }: Shown): number {
  return column.close === true ? 1 : gap;
}

function widest(texts: readonly Text[], widthOf: (text: Text) => number): number {
  return texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
}

function linesIn(shown: readonly Shown[], widths: readonly number[], screen: Screen): string[] {
  const linesOf = (texts: readonly Text[]) => {
    const cells = shown.map(({ column }, index) => {
      const inner = { ...screen, room: widths[index] ?? 0 };
      const text = texts[index] ?? '';
      return column.cut === 'wrap' ? wrap(text, inner, { isHard: true }) : [cut(text, inner, column.cut)];
    });
    const height = cells.reduce((most, { length }) => Math.max(most, length), 1);
    return Array.from({ length: height }, (_, at) =>
      shown
        .map((one, index) => placed(cells[index]?.[at] ?? [], one, widths[index] ?? 0, screen))
        .join('')
        .trimEnd(),
    );
  };
  const head = shown.some(({ title }) => wordsOf(title) !== '') ? linesOf(shown.map(({ title }) => title)) : [];
  const body = (shown[0]?.cells ?? []).flatMap((_, row) => linesOf(shown.map(({ cells }) => cells[row] ?? '')));
  return [...head, ...body];
}

function placed(line: Line, shown: Shown, width: number, { style }: Screen): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(line)));
  const text = paintLine(line, style);
  return `${shown.column.align === 'right' ? space + text : text + space}${' '.repeat(gapAfter(shown))}`;
}

function rowBlocks(shown: readonly Shown[], count: number, screen: Screen): string[] {
  const titles = widest(
    shown.map(({ title }) => title),
    (title) => widthOfText(title, screen),
  );
  return Array.from({ length: count }, (_, row) => {
    const own = shown.flatMap(({ title, cells, column }) => {
      const cell = cells[row] ?? '';
      if (wordsOf(cell) === '') return [];
      const room = column.cut === 'wrap' ? screen.room - titles - gap : Number.POSITIVE_INFINITY;
      const [first = '', ...others] = wrapped(cell, { ...screen, room });
      const space = ' '.repeat(titles - widthOfText(title, screen) + gap);
      return [`${inlineText(title, screen.style)}${space}${first}`, ...indented(others, titles + gap)];
    });
    return row === 0 ? own : ['', ...own];
  }).flat();
}

interface Painted {
  text: string;
  mark: Mark | undefined;
}

type Line = readonly Painted[];

interface Screen {
  style: Style;
  room: number;
}

const longestSpan = 2000;
/** Code of at most this width in columns is not broken at its spaces. */
const longestWhole = 40;

function widthOfText(text: Text, { style }: Pick<Screen, 'style'>): number {
  return widthOf(piecesOf(text, style));
}

function widestWord(text: Text, { style }: Pick<Screen, 'style'>): number {
  return splitWords(piecesOf(text, style)).reduce((most, word) => Math.max(most, widthOf(word)), 0);
}

interface Wrapping {
  /** Number of columns by which the lines of a text after its first are shorter. */
  hang?: number;
  /** Breaks words that are longer than a line. By default, such words stay whole, so that users can copy them. */
  isHard?: boolean;
  mark?: Mark;
}

function wrap(text: Text, { style, room }: Screen, { hang = 0, isHard = false, mark }: Wrapping = {}): Line[] {
  const lines: Line[][] = [[]];
  let width = 0;
  for (const whole of splitWords(piecesOf(text, style, mark))) {
    const limit = lines.length === 1 ? room : room - hang;
    const parts = isHard && widthOf(whole) > limit ? breakWord(whole, room - hang) : [whole];
    for (const [index, word] of parts.entries()) {
      const line = lines.at(-1);
      const next = width + 1 + widthOf(word);
      if (width > 0 && index === 0 && next <= limit) {
        line?.push(word);
        width = next;
        continue;
      }
      // A line does not begin or end with spaces.
      if (width > 0 && word.length === 0) continue;
      if (width === 0) lines.pop();
      lines.push([word]);
      width = widthOf(word);
    }
  }
  return lines.map(joinWords);
}

function joinWords(words: readonly Line[]): Line {
  const line: Painted[] = [];
  const add = (text: string, mark: Mark | undefined) => {
    const last = line.at(-1);
    if (last !== undefined && last.mark === mark) last.text += text;
    else line.push({ text, mark });
  };
  const end = words.findLastIndex((word) => word.length > 0);
  for (const [index, word] of words.slice(0, end + 1).entries()) {
    const mark = line.at(-1)?.mark;
    if (index > 0) add(' ', mark === word[0]?.mark ? mark : undefined);
    for (const piece of word) add(piece.text, piece.mark);
  }
  return line;
}

function cut(text: Text, { style, room }: Screen, part: 'middle' | undefined): Line {
  const pieces = piecesOf(text, style);
  if (widthOf(pieces) <= room) return pieces;
  const whole = pieces.map((piece) => piece.text).join('');
  return [{ text: (part === 'middle' ? cutMiddle : cutToWidth)(whole, room), mark: pieces[0]?.mark }];
}

function breakWord(word: readonly Painted[], room: number): Painted[][] {
  const text = word.map((piece) => piece.text).join('');
  const parts: Painted[][] = [];
  for (let rest = text; rest !== ''; rest = inert(rest.slice(parts.at(-1)?.[0]?.text.length))) {
    const head = displayWidth(rest) <= room ? rest : cutToWidth(rest, Math.max(room, 3)).replace(/…$/, '');
    parts.push([{ text: head === '' ? rest : head, mark: word[0]?.mark }]);
  }
  return parts;
}

/** Escapes a leading `::`, because build systems read a line that begins with `::` as a command. */
function inert(text: string): string {
  return text.replace(/^:(?=:)/, '\\x3a');
}

function piecesOf(text: Text, style: Style, other?: Mark): Painted[] {
  const hasColor = style.cyan(' ') !== ' ';
  return spansOf(text).map((span): Painted => {
    if (typeof span === 'string') return { text: inert(safeText(span, longestSpan)), mark: other };
    const shown = inert(safeText(span.text, longestSpan));
    return {
      text: span.mark === 'code' && !hasColor ? `\`${shown}\`` : shown,
      mark: span.mark === 'name' ? other : span.mark,
    };
  });
}

function widthOf(pieces: readonly Painted[]): number {
  return pieces.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

function splitWords(pieces: readonly Painted[]): Painted[][] {
  const words: Painted[][] = [[]];
  for (const { text, mark } of pieces) {
    const isWhole = mark === 'code' && displayWidth(text) <= longestWhole;
    for (const [index, part] of (isWhole ? [text] : text.split(' ')).entries()) {
      if (index > 0) words.push([]);
      if (part !== '') words.at(-1)?.push({ text: inert(part), mark });
    }
  }
  return words;
}

export function inlineText(text: Text, style: Style): string {
  return wrapped(text, { style, room: Number.POSITIVE_INFINITY }).join('');
}

function paintLine(line: Line, style: Style): string {
  return line
    .filter(({ text }) => text !== '')
    .map((piece) => paint(piece, style))
    .join('');
}

function paint({ text, mark }: Painted, style: Style): string {
  switch (mark) {
    case 'strong':
      return style.bold(text);
    case 'faint':
      return style.dim(text);
    case 'good':
      return style.green(text);
    case 'active':
    case 'code':
      return style.cyan(text);
    case 'warning':
      return style.yellow(text);
    case 'bad':
      return style.red(text);
    case 'name':
    case undefined:
      return text;
    default:
      return mark satisfies never;
  }
}
