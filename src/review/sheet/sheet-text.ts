import { xmlText } from '../../report/diagram/svg-text.ts';
import { cutMiddle, displayWidth } from '../../report/text-width.ts';

/** Width of a column in sizes of the letters: about what Noto Sans takes. */
const columnShare = 0.57;
/** Parts of an address, and what stands between marks on a line. */
const words = /[^@,·|()“”]+/gu;
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;
/** Signs of the fonts that come with this package. */
const shippedSigns =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Devanagari}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Thai}\p{M}\u0020-\u024f\u2000-\u206f\u20a0-\u20bf]*$/u;

export function columnsIn(room: number, size: number): number {
  return Math.max(1, Math.floor(room / (size * columnShare)));
}

/** About as wide as a text comes out, in pixels. */
export function widthOfText(text: string, size: number): number {
  return Math.ceil(displayWidth(text) * size * columnShare);
}

/** Writes as much of a line as fits, its middle left out; as XML. */
export function lineXml(text: string, size: number, room = Number.POSITIVE_INFINITY): string {
  return xmlText(isolateWords(cutMiddle(text, columnsIn(room, size))));
}

/** Makes each part of an address a whole of its own: else numbers after Arabic letters would stand before them. */
export function isolateWords(text: string): string {
  return text.replace(words, (word) => (rightToLeft.test(word) ? `\u2068${word}\u2069` : word));
}

/** Whether the fonts of this package can write it wherever it is drawn. */
export function isOfShippedScripts(text: string): boolean {
  return shippedSigns.test(text);
}
