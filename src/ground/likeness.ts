/**
 * Normalizes a sentence, so that sentences are equal if they differ only in identifiers: links, paths, names in quotes,
 * ids, numbers. HTTP status numbers are kept, because they describe the error.
 */
export function likenessOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/https?:\/\/\S+|"[^"]*"|'[^']*'|`[^`]*`|“[^”]*”/g, '…')
    .replace(/(?<=^|\s)[^\s/]+(?:\/[^\s/]+)+/g, '…')
    .replace(/(?<!http )(?<![\w@,.:-])[\w@,.:-]*\d[\w@,.:-]*/g, '…')
    .replace(/\s+/g, ' ')
    .trim();
}
