import type { CST } from 'yaml';
import { FormatLines } from './format-lines.ts';

const step = 2;

/** Rewrites the tokens of a YAML text: the same words and comments in the same order, with normalized white space. */
export function formatTokens(text: string, tokens: Iterable<CST.Token>): string {
  const formatter = new Formatter(text);
  for (const token of tokens) formatter.top(token);
  return formatter.lines.toString();
}

class Formatter {
  readonly lines = new FormatLines();
  readonly #text: string;
  /** Open block collections, outermost first: their column in the source, and in the output. */
  readonly #levels: { was: number; indent: number }[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  top(token: CST.Token): void {
    this.lines.indent = 0;
    switch (token.type) {
      case 'document':
        this.#words(token.start, { lines: 'all' });
        this.#node(token.value, { indent: 0, isInline: false });
        this.lines.end();
        this.lines.indent = 0;
        this.#words(token.end ?? [], { lines: 'all' });
        break;
      case 'directive':
        this.lines.word(token.source);
        this.lines.end();
        break;
      case 'doc-end':
        this.lines.word(token.source);
        this.#words(token.end ?? [], { lines: 'all' });
        break;
      case 'comment':
      case 'newline':
      case 'space':
        this.#words([token], { lines: 'all' });
        break;
      default:
    }
  }

  /**
   * Writes words that stand before, between or behind nodes. `all`: line ends and empty lines are kept; `ends`: only
   * line ends; `none`: neither.
   */
  #words(tokens: readonly CST.SourceToken[], options: { lines: 'all' | 'ends' | 'none' }): void {
    for (const token of tokens) this.#word(token, options.lines);
  }

  #word(token: CST.SourceToken, keep: 'all' | 'ends' | 'none'): void {
    const { lines } = this;
    switch (token.type) {
      case 'space':
      case 'byte-order-mark':
      case 'doc-mode':
        return;
      case 'newline':
        if (keep === 'none') return;
        lines.end();
        if (keep === 'all' && this.#isOnEmptyLine(token.offset)) lines.blank();
        return;
      case 'comment': {
        const { offset } = token;
        const start = this.#lineStart(offset);
        const before = this.#text.slice(start, offset);
        if (!/[^ \t]/.test(before)) lines.end();
        lines.comment(token.source.replace(/[ \t]+$/, ''), { column: offset - start, apart: /[ \t]{2}$/.test(before) });
        return;
      }
      case 'comma':
        lines.word(token.source, { tight: true });
        return;
      default:
        lines.word(token.source);
    }
  }

  /** `indent`: the column of the enclosing collection. `isInline`: a block collection goes on in the same line. */
  #node(token: CST.Token | null | undefined, place: { indent: number; isInline: boolean }): void {
    if (token === null || token === undefined) return;
    const { lines } = this;
    const { indent } = place;
    switch (token.type) {
      case 'block-map':
        if (!place.isInline) lines.end();
        this.#levels.push({ was: token.indent, indent });
        for (const item of token.items) this.#mapItem(item, { indent, was: token.indent });
        this.#levels.pop();
        break;
      case 'block-seq':
        if (!place.isInline) lines.end();
        this.#levels.push({ was: token.indent, indent });
        for (const item of token.items) this.#listItem(item, { indent, was: token.indent });
        this.#levels.pop();
        break;
      case 'flow-collection':
        this.#flow(token, indent);
        break;
      case 'block-scalar': {
        const { header, lines: moved } = blockScalarLines(token, indent + step);
        lines.word(header);
        for (const prop of token.props) if (prop.type === 'comment') this.#word(prop, 'none');
        lines.raw(moved);
        break;
      }
      case 'alias':
      case 'scalar':
      case 'single-quoted-scalar':
      case 'double-quoted-scalar': {
        const [first, ...others] = flowScalarLines(token);
        if (first !== '') lines.word(first);
        for (const line of others) this.#nextLine(line);
        for (const word of token.end ?? []) {
          if (word.type === 'comment' && !lines.isOpen) this.#placeComment(word);
          this.#word(word, 'ends');
        }
        break;
      }
      default:
        throw new Error(`internal error: a ${token.type} in a YAML document without mistakes`);
    }
  }

  /** Adds one more line of a text: an empty one means a line feed. */
  #nextLine(line: string): void {
    this.lines.end();
    if (line === '') this.lines.raw(['']);
    else this.lines.word(line);
  }

  #mapItem(item: CST.BlockMap['items'][number], { indent, was }: { indent: number; was: number }): void {
    const { lines } = this;
    lines.indent = indent;
    if (item.sep === undefined && item.key === undefined) {
      this.#comments(item.start);
      return;
    }
    this.#words(item.start, { lines: lines.isOpen ? 'none' : 'all' });
    lines.indent = indent;
    this.#node(item.key, { indent: indent + step, isInline: true });
    this.#between(item.sep ?? [], { value: item.value, key: item.key, indent, was });
    this.#value(item.value, indent);
  }

  #value(value: CST.Token | undefined, indent: number): void {
    const { lines } = this;
    lines.indent = indent + step;
    const isBlock = value?.type === 'block-map' || value?.type === 'block-seq';
    if (isBlock) {
      lines.end();
      lines.noBlank();
    }
    this.#node(value, { indent: isBlock ? indent + step : indent, isInline: false });
  }

  /** Writes everything from the `:` to the value. A one-piece value may stand in the next line, as it was written. */
  #between(
    tokens: readonly CST.SourceToken[],
    of: { value: CST.Token | undefined; key?: CST.Token | null | undefined; indent: number; was: number },
  ): void {
    const { lines } = this;
    const isPiece = of.value !== undefined && !['block-map', 'block-seq', 'block-scalar'].includes(of.value.type);
    for (const token of tokens) {
      lines.indent = of.indent + step;
      if (token.type === 'map-value-ind') {
        if (!lines.isOpen) lines.indent = of.indent;
        lines.word(':', { tight: isGluedTo(of.key) });
      } else if (of.value === undefined && token.type === 'comment' && token.indent <= of.was && !lines.isOpen) {
        // Below a key without a value, a comment belongs to what comes next.
        this.#placeComment(token);
        this.#word(token, 'all');
      } else this.#word(token, of.value === undefined ? 'all' : isPiece && lines.isOpen ? 'ends' : 'none');
    }
  }

  #listItem(item: CST.BlockSequence['items'][number], { indent, was }: { indent: number; was: number }): void {
    const { lines } = this;
    lines.indent = indent;
    const dash = item.start.findIndex(({ type }) => type === 'seq-item-ind');
    if (dash === -1) {
      this.#comments(item.start);
      return;
    }
    this.#words(item.start.slice(0, dash), { lines: lines.isOpen ? 'none' : 'all' });
    lines.word('-');
    const behind = item.start.slice(dash + 1);
    if (item.value === undefined) this.#between(behind, { value: undefined, indent, was });
    else {
      lines.indent = indent + step;
      this.#words(behind, { lines: 'none' });
    }
    const isBare = behind.every(({ type }) => type === 'space' || type === 'newline');
    const isBlock = item.value?.type === 'block-map' || item.value?.type === 'block-seq';
    lines.indent = indent + step;
    if (isBlock && !isBare) lines.end();
    if (isBlock) lines.noBlank();
    this.#node(item.value, { indent: isBlock ? indent + step : indent, isInline: isBare });
  }

  /** Writes a collection in brackets: on one line if it was on one, else with its line ends kept. */
  #flow(token: CST.FlowCollection, indent: number): void {
    const { lines } = this;
    const isList = token.start.type === 'flow-seq-start';
    lines.word(token.start.source);
    if (isList) lines.glue();
    for (const { start, key, sep = [], value } of token.items) {
      lines.indent = indent + step;
      this.#words(start, { lines: 'ends' });
      this.#node(key, { indent: indent + step, isInline: true });
      lines.indent = indent + step;
      for (const word of sep) {
        if (word.type === 'map-value-ind') lines.word(':', { tight: isGluedTo(key) });
        else this.#word(word, 'ends');
      }
      this.#node(value, { indent: indent + step, isInline: true });
    }
    const [close, ...behind] = token.end;
    lines.indent = indent;
    if (close !== undefined) lines.word(close.source, { tight: isList || lines.endsWith(token.start.source) });
    lines.indent = indent + step;
    this.#words(behind, { lines: 'ends' });
  }

  /** Writes the comments behind the last item of a collection. */
  #comments(tokens: readonly CST.SourceToken[]): void {
    for (const token of tokens) {
      if (token.type === 'comment') this.#placeComment(token);
      this.#word(token, 'all');
    }
  }

  /** Attaches a comment on its own line to the innermost collection that is not indented deeper than it. */
  #placeComment({ indent }: CST.SourceToken): void {
    this.lines.indent = this.#levels.findLast(({ was }) => was <= indent)?.indent ?? 0;
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf('\n', offset - 1) + 1;
  }

  #isOnEmptyLine(offset: number): boolean {
    return offset > 0 && !/[^ \t\r]/.test(this.#text.slice(this.#lineStart(offset), offset));
  }
}

/** Tells whether a `:` can follow without a space: `*name:` and `&name:` would be other names. */
function isGluedTo(key: CST.Token | null | undefined): boolean {
  if (key === null || key === undefined || key.type === 'alias') return false;
  return !('source' in key) || key.source !== '';
}

/** Splits a text within a line into lines: the first as it is, the others without indentation. */
function flowScalarLines(token: CST.FlowScalar): [first: string, ...others: string[]] {
  const [first = '', ...others] = token.source.split(/\r?\n/);
  if (others.length === 0) return [token.type === 'single-quoted-scalar' ? changeQuotes(first) : first];
  // In double quotes a space at the end of a line may be escaped; elsewhere it means nothing.
  const isDouble = token.type === 'double-quoted-scalar';
  const trim = (line: string) => (isDouble ? line : line.replace(/[ \t]+$/, ''));
  return [trim(first), ...others.map((line) => trim(line.replace(/^[ \t]+/, '')))];
}

/** Uses double quotes where the text needs no escapes in them. */
function changeQuotes(source: string): string {
  const inner = source.slice(1, -1);
  return /["'\\]|[^\x20-\x7e\u00a0-\ud7ff\ue000-\uffef]/.test(inner) ? source : `"${inner}"`;
}

/**
 * Returns the header and lines of a block text, indented anew. Indentation beyond the common one belongs to the text
 * and stays.
 */
function blockScalarLines(token: CST.BlockScalar, indent: number): { header: string; lines: string[] } {
  const written = token.props.map((prop) => (prop.type === 'block-scalar-header' ? prop.source : '')).join('');
  const lines = token.source.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const digit = /[1-9]/.exec(written)?.[0];
  const first = lines.find((line) => /[^ ]/.test(line));
  const detected = first === undefined ? longest(lines) : leadingSpaces(first);
  const before = digit === undefined ? detected : token.indent + Number(digit);
  const margin = ' '.repeat(indent);
  const moved = lines.map((line) => {
    const rest = line.slice(before);
    return rest === '' || leadingSpaces(line) < before ? '' : margin + rest;
  });
  // Without the digit, the first line sets the indentation, so it must not begin with a space.
  const needsDigit = digit !== undefined && (first === undefined || leadingSpaces(first) !== before);
  return { header: written.replace(/[1-9]/, needsDigit ? '2' : ''), lines: moved };
}

function leadingSpaces(line: string): number {
  return line.length - line.replace(/^ +/, '').length;
}

function longest(lines: readonly string[]): number {
  return lines.reduce((most, line) => Math.max(most, line.length), 0);
}
