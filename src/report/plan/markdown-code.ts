import { safeText } from '../safe-text.ts';

/**
 * A text as a code span: shown exactly, and inert, because nothing in a span is markup, a link, a person or an issue. Safe
 * inside a cell of a table, too.
 */
export function markdownCode(text: string, maxLength = 500): string {
  const plain = safeText(text, maxLength).replace(/\s+/g, ' ').trim();
  if (plain === '') return '';
  const longest = (plain.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 0);
  const fence = '`'.repeat(longest + 1);
  const pad = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  // A table is cut into cells before its spans are read.
  return `${fence}${pad}${plain.replaceAll('|', '\\|')}${pad}${fence}`;
}
