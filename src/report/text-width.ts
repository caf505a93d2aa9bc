const wide =
  /^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18df2}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
const emoji = /^\p{Emoji_Presentation}|^\p{Extended_Pictographic}\ufe0f/u;
const mark = /^[\p{M}\p{Default_Ignorable_Code_Point}]/u;
const plain = /^[\x20-\x7e]*$/;
/** Created on first use, because it takes 10 ms and most texts are ASCII. */
let graphemes: Intl.Segmenter | undefined;

function splitGraphemes(text: string): string[] {
  if (plain.test(text)) return [...text];
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

/** Returns the width of a text on a terminal, in columns. Precondition: no control characters. */
export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length;
  return splitGraphemes(text).reduce((width, grapheme) => width + graphemeWidth(grapheme), 0);
}

function graphemeWidth(grapheme: string): number {
  if (emoji.test(grapheme) || wide.test(grapheme)) return 2;
  return mark.test(grapheme) ? 0 : 1;
}

export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  return width < 1 ? '' : `${takeColumns(splitGraphemes(text), width - 1)}…`;
}

/** Cuts the middle of a text, because similar addresses often differ at the start or the end. */
export function cutMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return '';
  const all = splitGraphemes(text);
  const front = Math.floor((width - 1) / 2);
  const back = takeColumns(all.toReversed(), width - 1 - front, 'backwards');
  return `${takeColumns(all, front)}…${back}`;
}

export function cutStart(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `…${takeColumns(splitGraphemes(text).reverse(), width - 1, 'backwards')}`;
}

function takeColumns(all: string[], width: number, direction: 'forwards' | 'backwards' = 'forwards'): string {
  const taken: string[] = [];
  let used = 0;
  for (const grapheme of all) {
    used += graphemeWidth(grapheme);
    if (used > width) break;
    taken.push(grapheme);
  }
  return (direction === 'forwards' ? taken : taken.reverse()).join('');
}
