import type { Advice, Call, Shell } from '../ground/advice.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';
import type { Style } from './style.ts';

/** A command line ready to paste, with the running command's file and its options for lock, variables and account. */
export type Paste = (command: Call) => string;

/** Advice as one text of several lines, for programs. */
export function adviceText(advice: Advice, paste: Paste): string {
  return adviceLines(advice, paste).join('\n');
}

/** Advice below what it is about: an arrow, and further lines in its column. */
export function adviceBelow(
  advice: Advice | undefined,
  { style, paste, indent }: { style: Style; paste: Paste; indent: number },
): string[] {
  if (advice === undefined) return [];
  return adviceLines(advice, paste).map(
    (line, index) => `${' '.repeat(indent)}${index === 0 ? style.cyan('→') : ' '} ${line}`,
  );
}

export function adviceLines(advice: Advice, paste: Paste): string[] {
  return linesOf(advice, (run) => ('shell' in run ? shellText(run) : paste(run)));
}

/** Advice that names no command of this program, as diagnostics give it. */
export function shellLines(advice: Advice<Shell>): string[] {
  return linesOf(advice, shellText);
}

/** A command ends its line, stays whole whatever its length, and is all that follows the colon. */
function linesOf<Run>(advice: Advice<Run>, write: (run: Run) => string): string[] {
  const lines = typeof advice === 'string' || 'to' in advice ? [advice] : advice;
  return lines.map((line) =>
    typeof line === 'string' ? safeText(line, 2000) : `${safeText(line.to, 1000)}: ${write(line.run)}`,
  );
}

function shellText({ shell }: Shell): string {
  return shell.map((word) => shellWord(word)).join(' ');
}
