import { safeText } from './safe-text.ts';

/**
 * A text as one word of the shell that people have on a system: on Windows PowerShell and cmd, else one like bash.
 */
export function shellWord(text: string, platform: string = process.platform): string {
  return platform === 'win32' ? windowsWord(text) : posixWord(text);
}

/**
 * Both read double quotes. Within them PowerShell fills in `$…` and obeys backticks, so it alone is meant where there are
 * any; commas, which it takes apart, `@` at the beginning and brackets stand in quotes. Windows cannot write controls.
 */
function windowsWord(text: string): string {
  const shown = safeText(text, Number.POSITIVE_INFINITY);
  if (/^[\p{L}\p{N}_+:./\\-][\p{L}\p{N}_@+=:./\\-]*$/u.test(shown)) return shown;
  return /["$`‘’‚‛“”„%!]/.test(shown) || shown.endsWith('\\')
    ? `'${shown.replaceAll(/['‘’‚‛]/g, '$&$&')}'`
    : `"${shown}"`;
}

/**
 * A text as one word of a shell, quoted only if necessary, whole whatever its length, so that it can be copied.
 * Characters that a terminal would obey, or not show, become escapes that bash and zsh read.
 */
function posixWord(text: string): string {
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
