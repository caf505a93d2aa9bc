/** Normalizes case and Unicode form. Two paths that mean the same file on some system have the same result. */
export function foldPath(path: string): string {
  if (/^[\x20-\x7e]*$/.test(path)) return path.toLowerCase();
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
