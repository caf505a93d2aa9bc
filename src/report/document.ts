/** Role of a part of a text, which renderers style. `name`: foreign text, inert in Markdown. */
export type Mark = 'strong' | 'faint' | 'good' | 'active' | 'warning' | 'bad' | 'code' | 'name';

export type Span = string | { readonly text: string; readonly mark: Mark };

/** Words in one line, from anywhere: the renderers escape what a terminal, a log or Markdown would obey, and wrap. */
export type Text = Span | readonly Span[];

export interface Column {
  title: string;
  align?: 'right';
  /** Minimum width in columns when cut. Omitted if never cut, so that it can be copied. */
  least?: number;
  /** Treatment of a text that is too long. `wrap`: it goes on in the lines below. Default: its end is left out. */
  cut?: 'middle' | 'wrap';
  /** Placed below its row if the columns do not fit. */
  below?: true;
  /** Cut, then left out, before any other column is cut. */
  spare?: true;
  /** One space separates it from the next column, not two. */
  close?: true;
}

export interface Fact {
  label: Text;
  text: Text;
  /** Lines below the text, in its column. */
  below?: Document;
}

/** A statement that goes on indented, with a command to paste after a colon, and what belongs to it indented below. */
export interface Line {
  is: 'line';
  text: Text;
  run?: string;
  below?: Document;
}

export type Block =
  | { is: 'heading'; text: Text }
  | { is: 'paragraph'; text: Text }
  | Line
  /** Blocks without blank lines between them. */
  | { is: 'stack'; blocks: Document }
  /** `signs`: before each item; default: bullets. */
  | { is: 'list'; items: readonly Document[]; isLoose?: boolean; signs?: readonly Text[] }
  | { is: 'facts'; facts: readonly Fact[] }
  /** Columns without any text are left out, and so are titles where `hasHead` is false. */
  | { is: 'table'; columns: readonly Column[]; rows: readonly (readonly Text[])[]; hasHead?: false; counts?: number[] }
  | { is: 'code'; text: string; language?: string; name?: string }
  /** Folded away where the medium can fold, else left out. */
  | { is: 'folded'; title: Text; lines: readonly Text[] };

/** The output of a view: blocks with a blank line between them. `undefined` is nothing, so that a view can leave one out. */
export type Document = readonly (Block | undefined)[];

export function heading(text: Text): Block {
  return { is: 'heading', text };
}

export function paragraph(text: Text): Block {
  return { is: 'paragraph', text };
}

export function line(text: Text, below?: Document): Line {
  return { is: 'line', text, ...(below !== undefined && { below }) };
}

export function command(to: Text, run: string): Line {
  return { is: 'line', text: to, run };
}

export function stack(...blocks: Document): Block {
  return { is: 'stack', blocks };
}

/** Labelled texts. A fact without a text is left out. */
export function facts(all: readonly (Fact | undefined)[]): Block {
  return { is: 'facts', facts: all.filter((fact) => fact !== undefined) };
}

export function table(columns: readonly Column[], rows: readonly (readonly Text[])[]): Block {
  return { is: 'table', columns, rows };
}

export function strong(text: string): Span {
  return { text, mark: 'strong' };
}

export function faint(text: string): Span {
  return { text, mark: 'faint' };
}

export function good(text: string): Span {
  return { text, mark: 'good' };
}

export function active(text: string): Span {
  return { text, mark: 'active' };
}

export function warning(text: string): Span {
  return { text, mark: 'warning' };
}

export function bad(text: string): Span {
  return { text, mark: 'bad' };
}

/** Text from a campaign or the service: it is escaped. */
export function named(text: string): Span {
  return { text, mark: 'name' };
}

export function spansOf(text: Text): readonly Span[] {
  return typeof text === 'string' || 'mark' in text ? [text] : text;
}

/** Returns the text without marks. */
export function wordsOf(text: Text): string {
  return spansOf(text)
    .map((span) => (typeof span === 'string' ? span : span.text))
    .join('');
}
