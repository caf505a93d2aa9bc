import type { Mark } from '../document.ts';
import { type Painted, paint } from '../render/spans.ts';
import type { Style } from '../style.ts';
import { cutToWidth, displayWidth } from '../text-width.ts';

export interface Piece extends Painted {
  width: number;
}

/** Makes a piece of a line. `text`: already escaped, without line breaks. */
export function piece(text: string, mark?: Mark): Piece {
  return { text, width: displayWidth(text), mark };
}

export function spaces(width: number): Piece {
  return { text: ' '.repeat(Math.max(0, width)), width: Math.max(0, width), mark: undefined };
}

export function joined(pieces: readonly Piece[]): Piece[] {
  return pieces.flatMap((one, index) => (index === 0 ? [one] : [dot, one]));
}

/** Joins as many of the first pieces as fit `room` columns, so that no word is cut. */
export function joinedWithin(pieces: readonly Piece[], room: number): Piece[] {
  let width = 0;
  const fitting = pieces.findIndex((one, index) => {
    width += one.width + (index === 0 ? 0 : dot.width);
    return width > room;
  });
  return joined(fitting === -1 ? pieces : pieces.slice(0, Math.max(1, fitting)));
}

const dot: Piece = { text: ' · ', width: 3, mark: undefined };

/**
 * Returns a line of at most `columns` − 1 columns, because some terminals wrap a full line. The right part is kept
 * while half of the line remains, and the left part is cut.
 */
export function fillLine(
  left: readonly Piece[],
  right: readonly Piece[],
  { columns, style }: { columns: number; style: Style },
): string {
  const room = Math.max(0, columns - 1);
  const rightWidth = widthOf(right);
  const hasRight = rightWidth > 0 && rightWidth + gap <= room / 2;
  const leftRoom = hasRight ? room - rightWidth - gap : room;
  const { text, width } = cutPieces(left, leftRoom, style);
  if (!hasRight) return text.trimEnd();
  return `${text}${' '.repeat(room - rightWidth - width)}${right.map((one) => paint(one, style)).join('')}`.trimEnd();
}

const gap = 2;

export function widthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { width }) => sum + width, 0);
}

function cutPieces(pieces: readonly Piece[], room: number, style: Style): { text: string; width: number } {
  let text = '';
  let width = 0;
  for (const [index, one] of pieces.entries()) {
    const isLast = index === pieces.length - 1;
    if (width + one.width <= room - (isLast ? 0 : 1)) {
      text += paint(one, style);
      width += one.width;
      continue;
    }
    const cut = cutToWidth(one.width < room - width ? `${one.text}…` : one.text, room - width);
    return { text: text + paint({ ...one, text: cut }, style), width: width + displayWidth(cut) };
  }
  return { text, width };
}
