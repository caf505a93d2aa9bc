import { safeText } from './safe-text.ts';

/** A text as one word of a POSIX shell, quoted only where it has to be, so that a hint can be copied. */
export function shellWord(text: string): string {
  const safe = safeText(text, 400);
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(safe) ? safe : `'${safe.replaceAll("'", `'\\''`)}'`;
}
