/** Replaces links, paths, quoted names, ids and numbers by `…`, so that similar errors become equal. */
export function likenessOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/https?:\/\/\S+|"[^"]*"|'[^']*'|`[^`]*`|“[^”]*”/g, '…')
    .replace(/(?<=^|\s)[^\s/]+(?:\/[^\s/]+)+/g, '…')
    .replace(/(?<!http )(?<![\w@,.:-])[\w@,.:-]*\d[\w@,.:-]*/g, '…')
    .replace(/\s+/g, ' ')
    .trim();
}
