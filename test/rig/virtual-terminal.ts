import headless from '@xterm/headless';

/** A terminal in memory, which folds, scrolls and keeps what scrolled away as real ones do. */
export class VirtualTerminal {
  readonly #terminal: headless.Terminal;
  /** Everything that was written, a piece for each write. */
  readonly writes: string[] = [];

  constructor(columns: number, rows: number) {
    this.#terminal = new headless.Terminal({ cols: columns, rows, scrollback: 20_000, allowProposedApi: true });
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  write(text: string): void {
    this.writes.push(text);
    this.#terminal.write(text);
  }

  /** Resizes it when all that was written is there. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.#settled();
    this.#terminal.resize(columns, rows);
  }

  /** What a person sees, without empty rows at the end. */
  async visible(): Promise<string[]> {
    return withoutEmptyEnd((await this.#rows()).slice(-this.rows));
  }

  /** That, and what has scrolled away before. */
  async all(): Promise<string[]> {
    return withoutEmptyEnd(await this.#rows());
  }

  async #rows(): Promise<string[]> {
    await this.#settled();
    const { active } = this.#terminal.buffer;
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? '');
  }

  #settled(): Promise<void> {
    return new Promise((resolve) => this.#terminal.write('', resolve));
  }
}

function withoutEmptyEnd(lines: string[]): string[] {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return lines.slice(0, last + 1);
}
