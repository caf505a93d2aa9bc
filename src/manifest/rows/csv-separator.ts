/** Separators that are recognized by themselves. Those of English spreadsheets come first. */
const usual = [',', ';', '\t'] as const;

/** Reads a separator of a manifest; undefined: there is no such. */
export function readSeparator(written: string): string | undefined {
  if (written === 'tab') return '\t';
  return /^[,;|\t]$/.test(written) ? written : undefined;
}

/** Writes a separator as a manifest does: `";"`, `tab`. */
export function writeSeparator(separator: string): string {
  return separator === '\t' ? 'tab' : JSON.stringify(separator);
}

/** Names a separator in a message. */
export function nameSeparator(separator: string): string {
  return separator === '\t' ? 'tabs' : `\`${separator}\``;
}

/**
 * Recognizes what separates the columns of a table with LF line breaks. A first line `sep=;`, which spreadsheets write, says
 * it. Else the header tells, outside of quotes; where it holds several, the one by which every row has a value for each
 * column. `either`: nothing tells.
 */
export function findSeparator(
  text: string,
  fitsAll: (separator: string) => boolean,
): { separator: string; said: boolean } | { either: readonly string[] } {
  const said = /^sep=([^\n])\n/i.exec(text)?.[1];
  if (said !== undefined) return { separator: said, said: true };
  const header = headerOf(text);
  const found = usual.filter((separator) => header.includes(separator));
  const [only = ',', ...others] = found;
  if (others.length === 0) return { separator: only, said: false };
  const [fitting, ...more] = found.filter(fitsAll);
  return fitting === undefined || more.length > 0 ? { either: found } : { separator: fitting, said: false };
}

/** The same lines without what spreadsheets say about the separator. */
export function withoutSeparatorLine(text: string): string {
  return text.replace(/^sep=[^\n]\n/i, '\n');
}

/** The first line with anything in it, without what stands in quotes, which may hold line breaks. */
function headerOf(text: string): string {
  const start = /\S/.exec(text)?.index ?? text.length;
  let header = '';
  let inQuotes = false;
  for (const character of text.slice(start, start + longestHeader)) {
    if (character === '"') inQuotes = !inQuotes;
    else if (inQuotes) continue;
    else if (character === '\n') break;
    else header += character;
  }
  return header;
}

/** Longest header, in UTF-16 units: beyond it nothing is looked for. */
const longestHeader = 100_000;
