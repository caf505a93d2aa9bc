import type { Style } from '../style.ts';
import { padRight, wrapText } from '../text-width.ts';

const labelWidth = 12;
const gap = '  ';

/** A fact of a footer: its label, and its text beside it, wrapped at words. `paint` paints each line of the text. */
export function footerLines(
  label: string,
  text: string,
  { style, width, paint = (line) => line }: { style: Style; width?: number; paint?: (line: string) => string },
): string[] {
  const room = Math.max(40, width ?? Number.POSITIVE_INFINITY) - labelWidth - gap.length;
  const lines = wrapText(text, room, { maxLines: 5 });
  return lines.map((line, at) => `${style.dim(padRight(at === 0 ? label : '', labelWidth))}${gap}${paint(line)}`);
}
