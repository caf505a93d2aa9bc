import type { Advice, Call } from '../plan/advice.ts';
import { safeText } from './safe-text.ts';

/** A command line ready to paste, with the running command's file and its options for lock, variables and account. */
export type Paste = (command: Call) => string;

/** Advice on one line. Commands stay whole, whatever their length; one that does not end the line is in backticks. */
export function adviceText(advice: Advice, paste: Paste): string {
  if (typeof advice === 'string') return safeText(advice, 2000);
  const last = advice.length - 1;
  const texts = advice.map((part, index) => {
    if (typeof part === 'string') return safeText(part, 1000);
    return index === last ? paste(part) : `\`${paste(part)}\``;
  });
  return texts.join('');
}
