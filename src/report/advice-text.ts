import type { Advice, Call, Shell, Way } from '../ground/advice.ts';
import { active, command, type Document, paragraph } from './document.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';

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
