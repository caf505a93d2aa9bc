import type { Json } from '../ground/json.ts';
import { defined } from '../ground/values.ts';

/**
 * Role of a part of a text. `name`: a name from a campaign or the service. Markdown escapes names, code and faint text.
 */
export type Mark = 'strong' | 'faint' | 'good' | 'active' | 'warning' | 'bad' | 'code' | 'name';

export type Span = string | { readonly text: string; readonly mark: Mark };

/** Text without line breaks. Renderers wrap the text and escape control sequences. */
export type Text = Span | readonly Span[];

export interface Column {
  title: string;
  align?: 'right';
  /** Minimum width in columns. Without a minimum, cells are never cut, so that users can copy them. */
  least?: number;
  /** How to fit a text into its column. `middle`: cuts the middle. `wrap`: adds lines. Default: cuts the end. */
  cut?: 'middle' | 'wrap';
  close?: true;
}

export interface Fact {
  label: Text;
  text: Text;
  below?: Document;
}

/** Statement. `run`: command to paste, shown after a colon. `below`: indented details. */
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
  | { is: 'stack'; blocks: Document }
  /** `signs`: text before each item. Default: bullets. `isLoose`: blank lines between items. */
  | { is: 'list'; items: readonly Document[]; isLoose?: boolean; signs?: readonly Text[] }
  | { is: 'facts'; facts: readonly Fact[] }
  /** A terminal omits columns without text. If `hasHead` is false, it also omits the column titles. */
  | { is: 'table'; columns: readonly Column[]; rows: readonly (readonly Text[])[]; hasHead?: false }
  | { is: 'code'; text: string; language?: string; name?: string }
  | { is: 'folded'; title: Text; lines: readonly Text[] };

export type Document = readonly (Block | undefined)[];

export function heading(text: Text): Block {
  return { is: 'heading', text };
}

export function paragraph(text: Text): Block {
  return { is: 'paragraph', text };
}

export function line(text: Text, below?: Document): Line {
  return { is: 'line', text, ...defined({ below }) };
}

export function command(to: Text, run: string): Line {
  return { is: 'line', text: to, run };
}

export function stack(...blocks: Document): Block {
  return { is: 'stack', blocks };
}

export function facts(all: readonly (Fact | undefined)[]): Block {
  return { is: 'facts', facts: all.filter((fact) => fact !== undefined) };
}

export function table(columns: readonly Column[], rows: readonly (readonly Text[])[]): Block {
  return { is: 'table', columns, rows };
}

export function listOf<Row>(
  rows: readonly Row[],
  columns: readonly (Column & { of(row: Row): Text })[],
  look: { hasHead?: false } = {},
): Block {
  return { is: 'table', columns, rows: rows.map((row) => columns.map(({ of }) => of(row))), ...look };
}

export function joined(words: readonly Span[]): Text {
  return words.flatMap((word, index) => (index === 0 ? [word] : [' · ', word]));
}

export function someLines(texts: readonly Text[], most: number, more = 'more'): Line[] {
  const hidden = texts.length - most;
  const shown = texts.slice(0, most).map((text) => line(text));
  return hidden > 0 ? [...shown, line(`… and ${hidden} ${more}`)] : shown;
}

export function jsonOf(mediabatch: string, facts: object): Json {
  return { mediabatch, version: 1, ...facts } as unknown as Json;
}

function marked(mark: Mark): (text: string) => Span {
  return (text) => ({ text, mark });
}

export const strong = marked('strong');
export const faint = marked('faint');
export const good = marked('good');
export const active = marked('active');
export const warning = marked('warning');
export const bad = marked('bad');
export const named = marked('name');

export function spansOf(text: Text): readonly Span[] {
  return typeof text === 'string' || 'mark' in text ? [text] : text;
}

export function wordsOf(text: Text): string {
  return spansOf(text)
    .map((span) => (typeof span === 'string' ? span : span.text))
    .join('');
}
