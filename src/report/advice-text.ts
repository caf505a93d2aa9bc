import type { Advice, Call, Shell, Way } from '../ground/advice.ts';
import { active, command, type Document, type Line, line } from './document.ts';
import { safeText } from './safe-text.ts';

/**
 * Returns a command line to paste, with the manifest of this call and its options for lock, variables and account.
 */
export type Paste = (command: Call) => string;

export function adviceText(advice: Advice, paste: Paste): string {
  return adviceLines(advice, paste).join('\n');
}

export function adviceView(advice: Advice | undefined, paste: Paste): Document {
  return advice === undefined ? [] : listBehind('→', waysBlock(waysOf(advice), paste));
}

export function hintView(hint: Advice<Shell> | undefined): Document {
  return hint === undefined ? [] : listBehind('hint:', waysBlock(waysOf(hint)));
}

function listBehind(sign: string, lines: readonly Line[]): Document {
  return lines.length === 0 ? [] : [{ is: 'list', items: [lines], signs: [active(sign)] }];
}

export function waysBlock(ways: readonly (string | Way<Shell>)[]): Line[];
export function waysBlock(ways: readonly (string | Way)[], paste: Paste): Line[];
export function waysBlock(ways: readonly (string | Way)[], paste?: Paste): Line[] {
  return ways.map((one) => (typeof one === 'string' ? line(one) : command(one.to, textOf(one.run, paste))));
}

export function adviceLines(advice: Advice<Shell>): string[];
export function adviceLines(advice: Advice, paste: Paste): string[];
export function adviceLines(advice: Advice, paste?: Paste): string[] {
  return waysOf(advice).map((one) =>
    typeof one === 'string' ? safeText(one, 2000) : `${safeText(one.to, 1000)}: ${textOf(one.run, paste)}`,
  );
}

function waysOf<Run>(advice: Advice<Run>): readonly (string | Way<Run>)[] {
  return typeof advice === 'string' || 'to' in advice ? [advice] : advice;
}

function textOf(run: Call | Shell, paste: Paste | undefined): string {
  if ('shell' in run) return run.shell.map((word) => shellWord(word)).join(' ');
  return paste === undefined ? run.call : paste(run);
}

/** Quotes a text as one word: for PowerShell and cmd on Windows, for bash and zsh on other systems. */
export function shellWord(text: string, platform: string = process.platform): string {
  return platform === 'win32' ? windowsWord(text) : posixWord(text);
}

/**
 * PowerShell and cmd accept double quotes, but PowerShell expands `$…` and backticks within them. A word with one of
 * these characters gets single quotes, which only PowerShell accepts.
 */
function windowsWord(text: string): string {
  const shown = safeText(text, Number.POSITIVE_INFINITY);
  if (/^[\p{L}\p{N}_+:./\\-][\p{L}\p{N}_@+=:./\\-]*$/u.test(shown)) return shown;
  return /["$`‘’‚‛“”„%!]/.test(shown) || shown.endsWith('\\')
    ? `'${shown.replaceAll(/['‘’‚‛]/g, '$&$&')}'`
    : `"${shown}"`;
}

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
