import type { Finding } from '../../contract/notice.ts';
import type { Json } from '../../ground/json.ts';
import { adviceBelow, adviceText, type Paste } from '../advice-text.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { wrapLines } from '../text-width.ts';

/** A line for each finding, grouped by subject, and a summary at the end. `width`: of a terminal. */
export function doctorText(
  findings: readonly Finding[],
  options: { style: Style; paste: Paste; width?: number },
): string {
  const { style } = options;
  const groups = [...new Set(findings.map(({ about }) => about))];
  const lines = groups.flatMap((about) => [
    style.bold(about),
    ...findings.filter((finding) => finding.about === about).flatMap((finding) => findingLines(finding, options)),
  ]);
  return `${wrapLines(lines, options.width).join('\n')}\n\n${sumText(findings, style)}\n`;
}

function findingLines({ state, text, hint }: Finding, { style, paste }: { style: Style; paste: Paste }): string[] {
  return [`  ${stateWord(state, style)}  ${safeText(text, 1000)}`, ...adviceBelow(hint, { style, paste, indent: 11 })];
}

function stateWord(state: Finding['state'], style: Style): string {
  switch (state) {
    case 'ok':
      return style.green('ok     ');
    case 'warning':
      return style.yellow('warning');
    case 'problem':
      return style.red('problem');
    default:
      return state satisfies never;
  }
}

function sumText(findings: readonly Finding[], style: Style): string {
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  const words = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  if (problems > 0) return style.red(`${words(problems, 'problem')}, ${words(warnings, 'warning')}`);
  return warnings > 0 ? style.yellow(words(warnings, 'warning')) : style.green('all is well');
}

export function doctorJson(findings: readonly Finding[], exit: number, paste: Paste): Json {
  return {
    mediabatch: 'doctor',
    version: 1,
    exit,
    findings: findings.map(({ exit: _exit, hint, ...finding }) => ({
      ...finding,
      ...(hint !== undefined && { hint: adviceText(hint, paste) }),
    })),
  };
}
