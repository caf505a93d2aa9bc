import { type Mark, spansOf, type Text } from '../document.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { cutMiddle, cutToWidth, displayWidth } from '../text-width.ts';

/** A part of a line with one style, already escaped. */
interface Painted {
  text: string;
  mark: Mark | undefined;
}

export interface Line {
  pieces: Painted[];
  width: number;
}

export interface Screen {
  style: Style;
  /** Available width in columns. */
  room: number;
}

const longestSpan = 2000;
/** Length up to which a code is not broken at its spaces, in columns. */
const longestWhole = 40;

export function widthOfText(text: Text, { style }: Pick<Screen, 'style'>): number {
  return widthOf(piecesOf(text, style));
}

export function widestWord(text: Text, { style }: Pick<Screen, 'style'>): number {
  return splitWords(piecesOf(text, style)).reduce((most, word) => Math.max(most, widthOf(word)), 0);
}

interface Wrapping {
  /** Number of columns by which the lines after the first are shorter. */
  hang?: number;
  /** Limit of lines. If there are more, the last one ends in `…`. */
  most?: number;
  /** Whether to break words that are longer than a line. Otherwise they stay whole, so that they can be copied. */
  isHard?: boolean;
  mark?: Mark;
}

export function wrap(text: Text, { style, room }: Screen, options: Wrapping = {}): Line[] {
  const { hang = 0, most = Number.POSITIVE_INFINITY, isHard = false, mark } = options;
  const lines: Line[] = [{ pieces: [], width: 0 }];
  let spaces = 0;
  const limit = () => (lines.length === 1 ? room : room - hang);
  for (const whole of splitWords(piecesOf(text, style, mark))) {
    const parts = isHard && widthOf(whole) > limit() ? breakWord(whole, room - hang) : [whole];
    for (const [part, word] of parts.entries()) {
      const line = lines.at(-1) as Line;
      const fits = part === 0 && line.width + 1 + spaces + widthOf(word) <= limit();
      if (line.width === 0) append(line, word);
      else if (word.length === 0) spaces += 1;
      else if (fits) {
        append(line, [{ text: ' '.repeat(1 + spaces), mark: undefined }, ...word]);
        spaces = 0;
      } else {
        spaces = 0;
        if (lines.length === most) return [...lines.slice(0, -1), ended(line, limit())];
        lines.push({ pieces: [], width: 0 });
        append(lines.at(-1) as Line, word);
      }
    }
  }
  return lines;
}

/** Ends a line with `…`, because the text continues. */
function ended(line: Line, room: number): Line {
  const text = line.pieces.map((piece) => piece.text).join('');
  return { pieces: [{ text: cutToWidth(`${text} …`, room), mark: line.pieces[0]?.mark }], width: room };
}

/** Cuts a text to the width of the screen. A text that is cut has the mark of its first part. */
export function cut(text: Text, { style, room }: Screen, part: 'middle' | 'end'): Line {
  const pieces = piecesOf(text, style);
  const line: Line = { pieces: [], width: 0 };
  if (widthOf(pieces) <= room) append(line, pieces);
  else {
    const whole = pieces.map((piece) => piece.text).join('');
    append(line, [{ text: (part === 'middle' ? cutMiddle : cutToWidth)(whole, room), mark: pieces[0]?.mark }]);
  }
  return line;
}

function append(line: Line, pieces: readonly Painted[]): void {
  for (const piece of pieces.filter(({ text }) => text !== '')) {
    const { text } = piece;
    const last = line.pieces.at(-1);
    const isSpace = last?.mark === undefined && last?.text.trim() === '';
    const beforeSpace = isSpace && text.trim() !== '' ? line.pieces.at(-2) : undefined;
    if (beforeSpace !== undefined && beforeSpace.mark === piece.mark) {
      line.pieces.pop();
      beforeSpace.text += (last?.text ?? '') + text;
    } else if (last !== undefined && last.mark === piece.mark) last.text += text;
    else line.pieces.push({ text, mark: piece.mark });
    line.width += displayWidth(text);
  }
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

/** Makes a text safe at the beginning of a line: some build systems read a line that begins with `::` as a command. */
function inert(text: string): string {
  return text.replace(/^:(?=:)/, '\\x3a');
}

/** Returns the pieces of a text. Without colours, code is in backticks. */
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

/** Splits pieces into words, which may have several styles. Two spaces have an empty word between them. */
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
  return wrap(text, { style, room: Number.POSITIVE_INFINITY })
    .map((line) => paintLine(line, style))
    .join('');
}

export function paintLine({ pieces }: Line, style: Style): string {
  return pieces.map((piece) => paint(piece, style)).join('');
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
