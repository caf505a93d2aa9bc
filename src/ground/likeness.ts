/**
 * The same for sentences that differ only in what names one of many: links, paths, names in quotes, ids, numbers. The numbers of
 * HTTP stay, because they say what went wrong.
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
