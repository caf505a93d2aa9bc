import { safeText } from './safe-text.ts';

/** A string as one word of the usual shell of a system: on Windows PowerShell and cmd, else a shell like bash. */
export function shellWord(text: string, platform: string = process.platform): string {
  return platform === 'win32' ? windowsWord(text) : posixWord(text);
}

/**
 * PowerShell and cmd both read double quotes. In them, PowerShell expands `$…` and backticks, so a word with one of
 * these is written for PowerShell only. Words with commas, which PowerShell splits, brackets, or `@` at the beginning
 * are quoted. Windows has no notation for control characters.
 */
function windowsWord(text: string): string {
  const shown = safeText(text, Number.POSITIVE_INFINITY);
  if (/^[\p{L}\p{N}_+:./\\-][\p{L}\p{N}_@+=:./\\-]*$/u.test(shown)) return shown;
  return /["$`‘’‚‛“”„%!]/.test(shown) || shown.endsWith('\\')
    ? `'${shown.replaceAll(/['‘’‚‛]/g, '$&$&')}'`
    : `"${shown}"`;
}

/**
 * Returns a string as one word of a shell, quoted only if necessary, and never shortened, so that it can be copied.
 * Characters that a terminal would interpret or hide become escapes of bash and zsh.
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
