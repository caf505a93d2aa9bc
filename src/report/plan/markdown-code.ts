import { safeText } from '../safe-text.ts';

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
