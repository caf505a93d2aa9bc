/** A finished line: its text, and a comment behind it that may want to stand below others. */
interface Line {
  text: string;
  comment?: {
    text: string /** Where it began in the source. */;
    column: number /** It stood further off than one space. */;
    apart: boolean;
  };
}

/** Collects words and comments into lines. Words are one space apart, lines are indented as `indent` says. */
export class FormatLines {
  /** Columns before the first word of a line that begins from now on. */
  indent = 0;
  readonly #lines: Line[] = [];
  #text = '';
  #blank = false;
  #glued = false;

  /** Something stands on the present line. */
  get isOpen(): boolean {
    return this.#text !== '';
  }

  /** The word that stands last on the present line. */
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

  /** The next word follows without a space. */
  glue(): void {
    this.#glued = true;
  }

  /** A comment behind the present line, or on a line of its own. Either way the line is over. */
  comment(text: string, from: { column: number; apart: boolean }): void {
    if (this.#text === '') {
      this.word(text);
      this.end();
      return;
    }
    this.#lines.push({ text: this.#text, comment: { text, ...from } });
    this.#text = '';
  }

  /** Ends the present line, if there is anything on it. */
  end(): void {
    if (this.#text !== '') this.#lines.push({ text: this.#text });
    this.#text = '';
  }

  /** The next line has an empty one before it. */
  blank(): void {
    this.#blank = true;
  }

  noBlank(): void {
    this.#blank = false;
  }

  /** Lines that are taken as they are. */
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
 * Comments near each other that stood in one column stay in one column: how wide the text before them is, by line. One
 * that stands alone is one space apart.
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
