import { displayWidth } from '../text-width.ts';

/** The part of a terminal that the screen needs. `columns` and `rows` are read again for every frame. */
export interface ScreenStream {
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}

/** Returns the size of a terminal, or a usual size for a terminal that reports 0. */
export function sizeOf({ columns, rows }: ScreenStream): { columns: number; rows: number } {
  return { columns: columns || 80, rows: rows || 24 };
}

const csi = '\u001b[';
const showCursor = `${csi}?25h`;
const hideCursor = `${csi}?25l`;
/**
 * Control sequence that turns line wrapping off. Terminals disagree about the width of some scripts, and a line that
 * is wider than computed must not take a second row.
 */
const neverFold = `${csi}?7l`;
const foldAgain = `${csi}?7h`;
const eraseRestOfLine = `${csi}K`;
const eraseBelow = `${csi}J`;
const escapeSequence = new RegExp(`${'\u001b'}\\[[0-9;?]*[A-Za-z]`, 'g');

/**
 * Overwrites the last lines of a terminal; the cursor is on the line below them. A frame is one write with the lines
 * that differ from the previous frame. Lines are not erased before they are drawn, so nothing flickers.
 */
export class FrameWriter {
  readonly #stream: ScreenStream;
  #lines: readonly string[] = [];
  #size: { columns: number; rows: number };
  #isBegun = false;

  constructor(stream: ScreenStream) {
    this.#stream = stream;
    this.#size = sizeOf(stream);
  }

  /** Replaces the last frame by `lines`. `above` is printed once before them and scrolls away. */
  draw(lines: readonly string[], above: readonly string[] = []): void {
    const before = this.#size;
    this.#size = sizeOf(this.#stream);
    const { columns, rows } = this.#size;
    const isNew = above.length > 0 || before.columns !== columns || before.rows !== rows;
    const text = isNew ? this.#drawAll(lines, above) : this.#drawChanges(lines);
    this.#lines = lines;
    if (text !== '' || !this.#isBegun) {
      // Removes characters that the user typed below the frame, such as ^C.
      this.#stream.write(`${this.#isBegun ? '' : hideCursor}${text}${eraseBelow}`);
    }
    this.#isBegun = true;
  }

  /** Leaves the last frame on the terminal, and restores the cursor. */
  end(): void {
    if (this.#isBegun) this.#stream.write(showCursor);
    this.#isBegun = false;
    this.#lines = [];
  }

  /**
   * Draws all lines. In a terminal that became narrower, lines of the last frame were wrapped and take more rows than
   * were written; at most as many rows as the terminal has can be reached.
   */
  #drawAll(lines: readonly string[], above: readonly string[]): string {
    const { columns, rows } = this.#size;
    const taken = this.#lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
    const [printed, shown] = [above, lines].map((some) => some.map((line) => `${line}\r\n`).join(''));
    return `\r${up(Math.min(taken, rows - 1))}${eraseBelow}${printed}${neverFold}${shown}${foldAgain}`;
  }

  #drawChanges(lines: readonly string[]): string {
    const old = this.#lines;
    let text = '';
    // Row of the cursor, counted from the first line of the frame.
    let row = old.length;
    for (const [index, line] of lines.entries()) {
      if (index < old.length && line === old[index]) continue;
      text += `${moveBy(index - row)}\r${line}${index < old.length ? eraseRestOfLine : ''}\r\n`;
      row = index + 1;
    }
    if (text !== '') text = `${neverFold}${text}${foldAgain}`;
    return row === lines.length ? text : `${text}${moveBy(lines.length - row)}\r`;
  }
}

function up(count: number): string {
  return count > 0 ? `${csi}${count}A` : '';
}

function moveBy(rows: number): string {
  return rows > 0 ? `${csi}${rows}B` : up(-rows);
}

function widthOf(line: string): number {
  return displayWidth(line.replace(escapeSequence, ''));
}
