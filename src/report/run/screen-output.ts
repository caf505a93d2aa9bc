import { DefaultRenderer, ProcessOutput, Spinner } from 'listr2';
import { displayWidth } from '../text-width.ts';

/** The part of a terminal that the screen needs. `columns` and `rows` are read again for every frame. */
export interface ScreenStream {
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}

export const defaultColumns = 80;
export const defaultRows = 24;
const escapeCharacter = '\u001b';
export const showCursor = `${escapeCharacter}[?25h`;
const hideCursor = `${escapeCharacter}[?25l`;
const eraseLineAndGoUp = `${escapeCharacter}[2K${escapeCharacter}[1A`;
const escapeSequence = new RegExp(`${escapeCharacter}\\[[0-9;?]*[A-Za-z]`, 'g');

/**
 * Output for listr2. Its own takes over both standard streams, which would hold back data on stdout, and copies the
 * terminal's size once; this one writes to the given stream only and reads the size each time.
 */
export class ScreenOutput extends ProcessOutput {
  readonly #stream: ScreenStream;
  readonly #view: NodeJS.WriteStream;
  #frame = '';
  #frameColumns = 0;

  constructor(stream: ScreenStream) {
    super();
    this.#stream = stream;
    const view = {
      write: (text: string) => this.#writeFrame(text),
      get columns() {
        return stream.columns ?? defaultColumns;
      },
      get rows() {
        return stream.rows ?? defaultRows;
      },
    };
    this.#view = view as unknown as NodeJS.WriteStream;
  }

  /**
   * Writes a frame. A terminal that became narrower has folded the rows of the last frame, so that it takes more lines
   * than were written: these are erased first; the frame itself erases the others.
   */
  #writeFrame(text: string): void {
    const columns = this.#view.columns;
    const folded = columns < this.#frameColumns ? foldedLines(this.#frame, columns) : 0;
    this.#stream.write(`${eraseLineAndGoUp.repeat(folded)}${text}`);
    this.#frame = text;
    this.#frameColumns = columns;
  }

  override get stdout(): NodeJS.WriteStream {
    return this.#view;
  }

  override get stderr(): NodeJS.WriteStream {
    return this.#view;
  }

  override hijack(): void {
    this.#stream.write(hideCursor);
  }

  override release(): void {
    this.#stream.write(showCursor);
  }

  override toStdout(text: string, withEnd = true): boolean {
    this.#stream.write(withEnd ? `${text}\n` : text);
    return true;
  }

  override toStderr(text: string, withEnd = true): boolean {
    return this.toStdout(text, withEnd);
  }
}

function foldedLines(frame: string, columns: number): number {
  const widths = frame.replace(escapeSequence, '').split('\n').map(displayWidth);
  return widths.reduce((lines, width) => lines + Math.max(0, Math.ceil(width / columns) - 1), 0);
}

/**
 * Renderer without listr2's checks: listr2 draws only when stdout is a terminal, and takes that one's width; here the
 * caller has decided both, and rows come cut to the width. A row that begins with a space has no icon; a blank one is
 * hidden.
 */
export class ScreenRenderer extends DefaultRenderer {
  static override nonTTY = true;

  protected override format(message: string, icon: string, level: number): string[] {
    if (message.trim() === '') return [];
    const row = message.startsWith(' ') ? message : `${icon} ${message}`;
    // listr2 leaves a space in place of a suffix.
    return [`${'  '.repeat(Math.max(0, level))}${row.trimEnd()}`];
  }
}

/** Updates the texts before each frame, so that a burst of events costs one frame. */
export class FrameSpinner extends Spinner {
  readonly #beforeFrame: () => void;

  constructor(beforeFrame: () => void) {
    super();
    this.#beforeFrame = beforeFrame;
  }

  override spin(): void {
    super.spin();
    this.#beforeFrame();
  }
}
