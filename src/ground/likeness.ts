/** Replaces links, paths, quoted names, ids and numbers in a sentence, except HTTP status numbers. */
export function likenessOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/https?:\/\/\S+|"[^"]*"|'[^']*'|`[^`]*`|“[^”]*”/g, '…')
    .replace(/(?<=^|\s)[^\s/]+(?:\/[^\s/]+)+/g, '…')
    .replace(/(?<!http )(?<![\w@,.:-])[\w@,.:-]*\d[\w@,.:-]*/g, '…')
    .replace(/\s+/g, ' ')
    .trim();
}
