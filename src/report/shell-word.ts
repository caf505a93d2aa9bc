import { safeText } from './safe-text.ts';

/**
 * A text as one word of a shell, quoted only where it has to be, whole whatever its length, so that it can be copied. What
 * a terminal would obey, or would not show, stands as an escape that bash and zsh read.
 */
export function shellWord(text: string): string {
  const shown = safeText(text, Number.POSITIVE_INFINITY);
  if (shown !== text) return `$'${[...text].map(escapeCharacter).join('')}'`;
  return /^[\p{L}\p{N}_@%+:,./-][\p{L}\p{N}_@%+=:,./-]*$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function escapeCharacter(character: string): string {
  if (character === '\\' || character === "'") return `\\${character}`;
  // `##[` is taken for an order by some build systems.
  if (character === '#') return '\\x23';
  const shown = safeText(character);
  if (shown === character) return character;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}
