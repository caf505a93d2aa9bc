import { safeText } from './safe-text.ts';

/**
 * A text as one word of a shell, quoted only if necessary, whole whatever its length, so that it can be copied.
 * Characters that a terminal would obey, or not show, become escapes that bash and zsh read.
 */
export function shellWord(text: string): string {
  const shown = safeText(text, Number.POSITIVE_INFINITY);
  if (shown !== text) return `$'${[...text].map(escapeCharacter).join('')}'`;
  return /^[\p{L}\p{N}_@%+:,./-][\p{L}\p{N}_@%+=:,./-]*$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function escapeCharacter(character: string): string {
  if (character === '\\' || character === "'") return `\\${character}`;
  // Some build systems read `##[` as a command.
  if (character === '#') return '\\x23';
  const shown = safeText(character);
  if (shown === character) return character;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}
