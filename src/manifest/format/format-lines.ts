/** A finished line: its text, and a comment behind it that may be aligned with others. */
interface Line {
  text: string;
  comment?: {
    text: string /** Where it began in the source. */;
    column: number /** It stood further off than one space. */;
    apart: boolean;
  };
}

/** Collects words and comments into lines. Words are one space apart; `indent` sets the indentation. */
export class FormatLines {
  /** Columns before the first word of the lines that begin from now on. */
  indent = 0;
  readonly #lines: Line[] = [];
  #text = '';
  #blank = false;
  #glued = false;

  /** Tells whether the current line has any text. */
  get isOpen(): boolean {
    return this.#text !== '';
  }

  /** Tells whether this word stands last on the current line. */
  endsWith(word: string): boolean {
    return this.#text.endsWith(word);
  }

  /** Adds a word; `tight` leaves no space before it. */
  word(text: string, options: { tight?: boolean } = {}): void {
    if (this.#text === '') {
      if (this.#blank && this.#lines.length > 0) this.#lines.push({ text: '' });
      this.#blank = false;
      this.#text = ' '.repeat(this.indent) + text;
    } else this.#text += options.tight === true || this.#glued ? text : ` ${text}`;
    this.#glued = false;
  }

  /** Makes the next word follow without a space. */
  glue(): void {
    this.#glued = true;
  }

  /** Adds a comment behind the current line, or on a line of its own. Either way the line ends. */
  comment(text: string, from: { column: number; apart: boolean }): void {
    if (this.#text === '') {
      this.word(text);
      this.end();
      return;
    }
    this.#lines.push({ text: this.#text, comment: { text, ...from } });
    this.#text = '';
  }

  /** Ends the current line, if there is anything on it. */
  end(): void {
    if (this.#text !== '') this.#lines.push({ text: this.#text });
    this.#text = '';
  }

  /** Puts an empty line before the next one. */
  blank(): void {
    this.#blank = true;
  }

  noBlank(): void {
    this.#blank = false;
  }

  /** Adds lines unchanged. */
  raw(lines: readonly string[]): void {
    this.end();
    for (const text of lines) this.#lines.push({ text });
  }

  toString(): string {
    this.end();
    const widths = alignComments(this.#lines);
    return this.#lines
      .map(({ text, comment }, index) =>
        comment === undefined ? `${text}\n` : `${text.padEnd(widths.get(index) ?? 0)} ${comment.text}\n`,
      )
      .join('');
  }
}

const nearbyLines = 8;

/**
 * Keeps neighboring comments that shared a column aligned: returns the width of the text before them, by line. A
 * comment that stands alone is one space apart.
 */
function alignComments(lines: readonly Line[]): Map<number, number> {
  const widths = new Map<number, number>();
  const open = new Map<number, { members: number[]; width: number; apart: boolean }>();
  for (const [index, { text, comment }] of lines.entries()) {
    if (comment === undefined) continue;
    const known = open.get(comment.column);
    const isNear = known !== undefined && index - (known.members.at(-1) ?? 0) <= nearbyLines;
    const group = isNear ? known : { members: [], width: 0, apart: false };
    open.set(comment.column, group);
    group.members.push(index);
    group.width = Math.max(group.width, text.length);
    group.apart ||= comment.apart;
    if (group.apart && group.members.length > 1) for (const member of group.members) widths.set(member, group.width);
  }
  return widths;
}
