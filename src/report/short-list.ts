import { safeText } from './safe-text.ts';

/** `a, b, … and 3 more`: at most so many names, made safe. */
export function shortList(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).map((name) => safeText(name, 300));
  const hidden = names.length - shown.length;
  return `${shown.join(', ')}${hidden > 0 ? `, … and ${hidden} more` : ''}`;
}
