/**
 * Breaks a text into lines between words, and within words that are too long. The last line ends in `…` if text is cut.
 */
export function wrapText(text: string, limits: { readonly columns: number; readonly rows: number }): string[] {
  const columns = Math.max(2, Math.floor(limits.columns));
  const lines: string[] = [];
  let line = '';
  // XML does not allow control characters and lone surrogates. Longer texts are never shown in full.
  const visible = text.slice(0, 2000).normalize('NFC').replaceAll(/\s+/g, ' ').replaceAll(/\p{C}/gu, '').trim();
  for (const word of visible.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (widthOf(joined) <= columns) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const character of word) {
      if (widthOf(line + character) > columns) {
        lines.push(line);
        line = '';
      }
      line += character;
    }
    if (lines.length > limits.rows) break;
  }
  lines.push(line);
  if (lines.length <= limits.rows) return lines;
  const last = [...(lines[limits.rows - 1] ?? '')];
  return [...lines.slice(0, limits.rows - 1), `${last.slice(0, columns - 1).join('')}…`];
}

/** Counts columns: wide characters, such as East Asian ones and emoji, take two. */
function widthOf(text: string): number {
  return [...text].reduce((sum, character) => sum + (character >= '\u1100' ? 2 : 1), 0);
}
