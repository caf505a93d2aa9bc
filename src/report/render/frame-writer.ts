import { displayWidth } from '../text-width.ts';

/** Terminal. `columns` and `rows` are read for every frame, because users resize terminals. */
export interface ScreenStream {
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}

const csi = '\u001b[';
const showCursor = `${csi}?25h`;
const hideCursor = `${csi}?25l`;
/** Turns line wrapping off, because terminals differ in the width of some scripts. */
const neverFold = `${csi}?7l`;
const foldAgain = `${csi}?7h`;
const eraseRestOfLine = `${csi}K`;
const eraseBelow = `${csi}J`;
const escapeSequence = new RegExp(`${'\u001b'}\\[[0-9;?]*[A-Za-z]`, 'g');

/**
 * Overwrites the last lines of a terminal. The cursor stays on the line below them. A single write draws a whole frame,
 * so that the terminal does not flicker.
 */
export class FrameWriter {
  readonly #stream: ScreenStream;
  #lines: readonly string[] = [];
  #columns = 0;
  #frame: string | undefined;

  constructor(stream: ScreenStream) {
    this.#stream = stream;
  }

  /** Replaces the last frame with `lines`. Prints `above` before the frame; these lines scroll away. */
  draw(lines: readonly string[], above: readonly string[] = []): void {
    const { columns, rows } = sizeOf(this.#stream);
    const shown = lines.map((line) => `${line}${eraseRestOfLine}\r\n`).join('');
    const frame = `${columns} ${rows} ${shown}`;
    if (above.length === 0 && frame === this.#frame) return;
    // A terminal that became narrower has wrapped the lines of the last frame, so they take more rows.
    const rowsOf = (line: string) => (columns < this.#columns ? Math.max(1, Math.ceil(widthOf(line) / columns)) : 1);
    const taken = this.#lines.reduce((sum, line) => sum + rowsOf(line), 0);
    const back = Math.min(taken, rows - 1);
    const up = `\r${back > 0 ? `${csi}${back}A` : ''}`;
    const printed = above.length === 0 ? '' : `${eraseBelow}${above.map((line) => `${line}\r\n`).join('')}`;
    const hide = this.#frame === undefined ? hideCursor : '';
    // The last erasure removes characters that the user typed below the frame, such as ^C.
    this.#stream.write(`${hide}${up}${printed}${neverFold}${shown}${foldAgain}${eraseBelow}`);
    this.#lines = lines;
    this.#columns = columns;
    this.#frame = frame;
  }

  end(): void {
    if (this.#frame !== undefined) this.#stream.write(showCursor);
    this.#frame = undefined;
    this.#lines = [];
  }
}

/** Returns the size of a terminal. Defaults to 80 × 24, because some terminals report 0. */
export function sizeOf({ columns, rows }: ScreenStream): { columns: number; rows: number } {
  return { columns: columns || 80, rows: rows || 24 };
}

function widthOf(line: string): number {
  return displayWidth(line.replace(escapeSequence, ''));
}
