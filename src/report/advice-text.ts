import type { Advice, Call, Shell, Way } from '../ground/advice.ts';
import { active, command, type Document, type Line, line, paragraph } from './document.ts';
import { safeText } from './safe-text.ts';

/** A command line ready to paste, with the running command's file and its options for lock, variables and account. */
export type Paste = (command: Call) => string;

export function adviceText(advice: Advice, paste: Paste): string {
  return adviceLines(advice, paste).join('\n');
}

export function adviceView(advice: Advice | undefined, paste: Paste): Document {
  return viewOf(advice, { sign: '→', textOf: (run) => write(run, paste) });
}

export function shellView(advice: Advice<Shell> | undefined, sign: string): Document {
  return viewOf(advice, { sign, textOf: shellText });
}

/** Returns a line for each sentence or command, for commands of mediabatch. */
export function waysBlock(ways: readonly (string | Way<Call>)[], paste: Paste): Line[] {
  return ways.map((one) => (typeof one === 'string' ? line(one) : command(one.to, paste(one.run))));
}

function viewOf<Run>(
  advice: Advice<Run> | undefined,
  { sign, textOf }: { sign: string; textOf(run: Run): string },
): Document {
  if (advice === undefined) return [];
  const lines = waysOf(advice).map((one) =>
    typeof one === 'string' ? paragraph(one) : command(one.to, textOf(one.run)),
  );
  return lines.length === 0 ? [] : [{ is: 'list', items: [lines], signs: [active(sign)] }];
}

export function adviceLines(advice: Advice, paste: Paste): string[] {
  return linesOf(advice, (run) => write(run, paste));
}

function write(run: Call | Shell, paste: Paste): string {
  return 'shell' in run ? shellText(run) : paste(run);
}

export function shellLines(advice: Advice<Shell>): string[] {
  return linesOf(advice, shellText);
}

/** Formats an advice. A command ends its line, follows a colon, and is never shortened. */
function linesOf<Run>(advice: Advice<Run>, textOf: (run: Run) => string): string[] {
  return waysOf(advice).map((line) =>
    typeof line === 'string' ? safeText(line, 2000) : `${safeText(line.to, 1000)}: ${textOf(line.run)}`,
  );
}

function waysOf<Run>(advice: Advice<Run>): readonly (string | Way<Run>)[] {
  return typeof advice === 'string' || 'to' in advice ? [advice] : advice;
}

function shellText({ shell }: Shell): string {
  return shell.map((word) => shellWord(word)).join(' ');
}

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
