import type { Advice, Call } from '../plan/advice.ts';
import { safeText } from './safe-text.ts';

/**
 * A command line that can be pasted as it is: about the file of the command that is running, with the options by which that
 * one was told which lock, which variables and whose money are meant.
 */
export type Paste = (command: Call) => string;

/** An advice on one line. Commands stay whole, whatever their length; one that does not end the line stands in backticks. */
export function adviceText(advice: Advice, paste: Paste): string {
  if (typeof advice === 'string') return safeText(advice, 2000);
  const last = advice.length - 1;
  const texts = advice.map((part, index) => {
    if (typeof part === 'string') return safeText(part, 1000);
    return index === last ? paste(part) : `\`${paste(part)}\``;
  });
  return texts.join('');
}
