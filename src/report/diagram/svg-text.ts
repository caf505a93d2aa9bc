import { displayWidth } from '../text-width.ts';

/** Makes a text fit for XML: without markup, and without characters that XML does not have. */
export function xmlText(text: string): string {
  return text.replace(/[\ufffe\uffff]/g, '\ufffd').replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
}

/** Fonts of the picture: whatever is on the machine, so a width is the most that any of them takes. In pixels. */
export const fonts = {
  name: { size: 13, column: 7.9 },
  code: { size: 11, column: 6.7 },
  words: { size: 11.5, column: 6.9 },
  title: { size: 15, column: 9.2 },
} as const;

export type Font = keyof typeof fonts;

/** Width of a safe text, in pixels. */
export function widthOf(text: string, font: Font): number {
  return Math.ceil(displayWidth(text) * fonts[font].column);
}
