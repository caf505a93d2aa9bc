/** Normalizes case and Unicode form, so that paths that are the same file on some system become equal. */
export function foldPath(path: string): string {
  if (/^[\x20-\x7e]*$/.test(path)) return path.toLowerCase();
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
