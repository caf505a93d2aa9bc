import type { CST } from 'yaml';

/** Splits a text within a line into lines: the first as it is, the others without indentation. */
export function flowScalarLines(token: CST.FlowScalar): [first: string, ...others: string[]] {
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
export function blockScalarLines(token: CST.BlockScalar, indent: number): { header: string; lines: string[] } {
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
