import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

/** A comment on GitHub holds 65,536 characters; the rest is left for links that the caller adds. */
export const mostCommentBytes = 60_000;

/** The blocks of a comment in their order, as Markdown. Empty ones are left out. */
export interface CommentParts {
  before: readonly string[];
  /** A table; `steps`: how many of them each of its rows stands for. */
  table: { text: string; steps: readonly number[] };
  between: readonly string[];
  /** Folded away, a line for each step. */
  lists: readonly { summary: string; lines: readonly string[] }[];
  after: readonly string[];
}

/**
 * Puts a comment together that has at most `mostCommentBytes` of UTF-8, with a line feed at its end: of what is too long
 * rows of the table and steps of the lists are left out whole, and counted.
 */
export function fitComment({ before, table, between, lists, after }: CommentParts): string {
  const [title = '', rule = '', ...rows] = table.text.split('\n');
  const fixed = [...before, title, rule, ...between, ...after];
  let left = mostCommentBytes - sizeOf(fixed);
  const shown = fitLines(rows, left / 2);
  left -= sizeOf(shown);
  const hidden = table.steps.slice(shown.length);
  const more =
    hidden.length === 0 ? '' : `… and ${countOf(hidden.length, 'more row')} for ${countOf(sum(hidden), 'step')}`;
  const folded: string[] = [];
  const sizes = lists.map(({ lines }) => sizeOf(lines));
  // The shortest first: what they do not need is there for the others.
  const order = [...lists.keys()].sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0));
  for (const [done, index] of order.entries()) {
    const { summary = '', lines = [] } = lists[index] ?? {};
    const text = foldedList(summary, lines, left / (lists.length - done));
    left -= sizeOf([text]);
    folded[index] = text;
  }
  const cut = shown.length === 0 ? '' : [title, rule, ...shown].join('\n');
  const blocks = [...before, cut, more, ...between, ...folded, ...after];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** Nothing of it where there is no room for one of its lines: the table counts what it stands for. */
function foldedList(summary: string, lines: readonly string[], room: number): string {
  const around = (inner: readonly string[]) =>
    `<details><summary>${summary}</summary>\n\n${inner.join('\n')}\n\n</details>`;
  const rest = (count: number) => `- … and ${countOf(count, 'more step')}`;
  if (sizeOf([around(lines)]) <= room) return around(lines);
  const shown = fitLines(lines, room - sizeOf([around([rest(lines.length)])]));
  return shown.length === 0 ? '' : around([...shown, rest(lines.length - shown.length)]);
}

/** Takes as many lines from the first as fit. */
function fitLines(lines: readonly string[], room: number): string[] {
  let left = room;
  const first = lines.findIndex((line) => {
    left -= sizeOf([line]);
    return left < 0;
  });
  return lines.slice(0, first < 0 ? lines.length : first);
}

/** Returns the size in bytes, with what separates blocks. */
function sizeOf(blocks: readonly string[]): number {
  return sum(blocks.map((block) => Buffer.byteLength(block) + 2));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/**
 * A text as a code span: shown exactly, but for runs of white space, and inert, because nothing in a span is markup, a
 * link, a person or an issue.
 */
export function markdownCode(text: string, maxLength = 500): string {
  const plain = safeText(text, maxLength).replace(/\s+/g, ' ').trim();
  if (plain === '') return '';
  const longest = (plain.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 0);
  const fence = '`'.repeat(longest + 1);
  const pad = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${plain}${pad}${fence}`;
}

/** A table, without a line feed at its end. A row is cut into cells before its spans are read, so that each `|` gets a backslash. */
export function markdownTable(
  columns: readonly { title: string; align?: 'right' }[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const titles = columns.map(({ title }) => title);
  const rules = columns.map(({ align }) => (align === 'right' ? '---:' : '---'));
  return [line(titles).replace('|  |', '| |'), line(rules), ...rows.map(line)].join('\n');
}
