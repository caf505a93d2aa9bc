import { lexer, type Token, type Tokens } from 'marked';
import type { Style } from '../style.ts';
import { displayWidth } from '../text-width.ts';

/** A part of a line that is painted in one way. */
interface Piece {
  text: string;
  paint(text: string): string;
  /** Not broken at its spaces. */
  isWhole?: boolean;
}

interface Look {
  style: Style;
  /** Columns of the terminal. */
  width: number;
}

const gap = 2;
const widest = 100;

/** A page of the manual for a terminal. */
export function pageText(markdown: string, options: Look): string {
  const look = { ...options, width: Math.max(40, Math.min(widest, options.width - 1)) };
  const tokens = lexer(markdown);
  const blocks: string[][] = [];
  let isNamed = false;
  for (const token of tokens) {
    for (const lines of blockOf(token, look)) {
      // The name of an entry stands directly above it.
      if (isNamed) blocks.at(-1)?.push(...lines);
      else if (lines.length > 0) blocks.push(lines);
      isNamed = token.type === 'heading' && token.depth === 3;
    }
  }
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function blockOf(token: Token, look: Look): string[][] {
  const { style, width } = look;
  switch (token.type) {
    case 'space':
      return [];
    case 'heading':
      return [[style.bold(plainOf(childrenOf(token)))]];
    case 'paragraph':
    case 'text':
      return [wrapPieces(piecesOf(childrenOf(token), style), width)];
    case 'list':
      return listBlocks(token as Tokens.List, look);
    case 'code':
      return [codeLines(token as Tokens.Code, style)];
    case 'table':
      return [tableLines(token as Tokens.Table, look)];
    default:
      throw new Error(`internal error: a page of the manual has a ${token.type}`);
  }
}

/** Returns the text of a heading: without colours it has no marks at all. */
function plainOf(tokens: readonly Token[]): string {
  return tokens.map((token) => ('text' in token ? token.text : '')).join('');
}

/** Short items stand together. */
function listBlocks(list: Tokens.List, look: Look): string[][] {
  const items = list.items.map((item, index) => {
    const sign = list.ordered ? `${Number(list.start) + index}.` : '•';
    const indent = ' '.repeat(sign.length + 1);
    const lines = item.tokens.flatMap((token) => blockOf(token, { ...look, width: look.width - indent.length }).flat());
    return lines.map((line, at) => (at === 0 ? `${sign} ${line}` : `${indent}${line}`));
  });
  return list.loose ? items : [items.flat()];
}

function codeLines({ text, lang = '' }: Tokens.Code, style: Style): string[] {
  const [language, ...name] = lang.split(' ');
  const isNamed = name.length > 0 && language !== 'sh';
  const lines = text.split('\n').map((line) => {
    const comment = language === 'sh' || language === 'yaml' ? /^(.*?)(\s+#\s.*|^#\s.*)$/.exec(line) : null;
    return line === '' ? '' : `    ${comment === null ? line : `${comment[1]}${style.dim(comment[2] ?? '')}`}`;
  });
  return [...(isNamed ? [style.dim(`  ${name.join(' ')}`)] : []), ...lines];
}

/** Columns as wide as their cells, or wrapped to fit. A screen too narrow for that gets a block for each row, with the titles. */
function tableLines(table: Tokens.Table, { style, width }: Look): string[] {
  const rows = table.rows.map((row) => row.map(({ tokens }) => piecesOf(tokens, style)));
  const head = table.header.map(({ text }) => [piece(text, style.dim)]);
  const all = head.some((cell) => widthOf(cell) > 0) ? [head, ...rows] : rows;
  const widths = fitWidths(all, width);
  if (widths !== undefined) return all.flatMap((row) => rowLines(row, widths));
  const title = Math.max(0, ...head.slice(1).map(widthOf));
  return rows.flatMap(([first = [], ...others]) => [
    ...wrapPieces(first, width),
    ...others.flatMap((cell, index) =>
      rowLines([head[index + 1] ?? [], cell], [title, width - 4 - title - gap]).map((line) => `    ${line}`),
    ),
  ]);
}

/** Widths in which all cells can be wrapped: the widest column gives way first. Undefined: some words are too long. */
function fitWidths(rows: readonly (readonly Piece[][])[], width: number): number[] | undefined {
  const columns = (rows[0] ?? []).map((_, index) => rows.map((row) => row[index] ?? []));
  const least = columns.map((cells) => Math.max(...cells.flatMap(wordsOf).map(widthOf)));
  const widths = columns.map((cells) => Math.max(...cells.map(widthOf)));
  const room = width - gap * (columns.length - 1);
  while (widths.reduce((sum, one) => sum + one, 0) > room) {
    const shrinkable = widths.map((one, index) => (one > (least[index] ?? 0) ? one : 0));
    const widest = shrinkable.indexOf(Math.max(...shrinkable));
    if (shrinkable[widest] === 0) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function rowLines(row: readonly Piece[][], widths: readonly number[]): string[] {
  const cells = row.map((cell, index) => wrapToLines(cell, widths[index] ?? 0));
  const height = Math.max(1, ...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, at) =>
    cells
      .map((lines, index) => {
        const { text = '', width = 0 } = lines[at] ?? {};
        return text + ' '.repeat(Math.max(0, (widths[index] ?? 0) - width + gap));
      })
      .join('')
      .trimEnd(),
  );
}

/** Longest code, in columns, that stands in one line. */
const longestWhole = 40;

const asItIs = (text: string) => text;

/** The words of a paragraph. Without colours code keeps its backticks. */
function piecesOf(tokens: readonly Token[], style: Style): Piece[] {
  return tokens.flatMap((token): Piece[] => {
    switch (token.type) {
      case 'codespan':
        return [codePiece(token.text, style)];
      // Its words are the command that shows where it leads.
      case 'link':
        return [codePiece(token.text, style)];
      case 'strong':
        return piecesOf(childrenOf(token), style).map(({ text }) => piece(text, style.bold));
      case 'em':
        return piecesOf(childrenOf(token), style);
      case 'text':
      case 'escape':
        return 'tokens' in token && token.tokens ? piecesOf(token.tokens, style) : [piece(token.text)];
      default:
        throw new Error(`internal error: a page of the manual has a ${token.type} in a line`);
    }
  });
}

function codePiece(text: string, style: Style): Piece {
  const shown = style.cyan('') === '' ? piece(`\`${text}\``) : piece(text, style.cyan);
  return { ...shown, isWhole: displayWidth(text) <= longestWhole };
}

function piece(text: string, paint: Piece['paint'] = asItIs): Piece {
  return { text: text.replace(/\s+/g, ' '), paint };
}

function childrenOf(token: Token): Token[] {
  return ('tokens' in token && (token as Tokens.Generic).tokens) || [];
}

function widthOf(pieces: readonly Piece[]): number {
  return displayWidth(pieces.map(({ text }) => text).join(''));
}

/** Breaks at spaces only, so that what is to be copied stays whole: a longer word makes a longer line. */
function wrapPieces(pieces: readonly Piece[], width: number): string[] {
  return wrapToLines(pieces, width).map(({ text }) => text);
}

/** The same, with the width of each line in columns. */
function wrapToLines(pieces: readonly Piece[], width: number): { text: string; width: number }[] {
  const lines: { text: string; width: number }[] = [];
  for (const word of wordsOf(pieces)) {
    const wide = widthOf(word);
    const painted = word.map(({ text, paint }) => paint(text)).join('');
    const line = lines.at(-1);
    if (line === undefined || line.width + 1 + wide > width) lines.push({ text: painted, width: wide });
    else lines.splice(-1, 1, { text: `${line.text} ${painted}`, width: line.width + 1 + wide });
  }
  return lines;
}

/** A word may be painted in several ways: a code with a comma after it. */
function wordsOf(pieces: readonly Piece[]): Piece[][] {
  const words: Piece[][] = [[]];
  for (const { text, paint, isWhole } of pieces) {
    for (const [index, part] of (isWhole ? [text] : text.split(' ')).entries()) {
      if (index > 0) words.push([]);
      if (part !== '') words.at(-1)?.push({ text: part, paint });
    }
  }
  return words.filter((word) => word.length > 0);
}
