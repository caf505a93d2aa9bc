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

/** The same for a cell of a table, which is cut into cells before its spans are read, and has a backslash before `|`. */
export function markdownCell(text: string, maxLength?: number): string {
  return markdownCode(text, maxLength).replaceAll('|', '\\|');
}
