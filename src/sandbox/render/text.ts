import type { Outline } from './canvas.ts';
import type { Contour, Font } from './font.ts';

/** Stands for a character that the font does not have. */
const missing = '□';

/**
 * The text as it can be drawn: accents composed, white space made plain, and one box for each character that the font
 * lacks (joiners and variation signs belong to the character before them).
 */
export function prepareText(text: string, font: Font): string {
  const plain = text
    .normalize('NFC')
    .replaceAll(/[\u200b-\u200f\u2060]|\p{Mn}|\p{Emoji_Modifier}/gu, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return [...plain]
    .map((character) => (font.glyphOf(character.codePointAt(0) ?? 0) === 0 ? missing : character))
    .join('');
}

/** In pixels at a font size of so many pixels. */
export function measureText(text: string, font: Font, size: number): number {
  let width = 0;
  let previous = 0;
  for (const character of text) {
    const glyph = font.glyphOf(character.codePointAt(0) ?? 0);
    width += font.advanceOf(glyph) + font.kerningOf(previous, glyph);
    previous = glyph;
  }
  return (width * size) / font.unitsPerEm;
}

/** Lines no wider than `width` pixels. A word that is wider is broken anywhere. */
export function wrapText(text: string, font: Font, options: { size: number; width: number }): string[] {
  const { size, width } = options;
  const fits = (line: string) => measureText(line, font, size) <= width;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const character of word) {
      if (line !== '' && !fits(line + character)) {
        lines.push(line);
        line = '';
      }
      line += character;
    }
  }
  return line === '' ? lines : [...lines, line];
}

/** The first lines, with "…" where something was left out. */
export function cutLines(lines: readonly string[], most: number, fits: (line: string) => boolean): string[] {
  if (lines.length <= most) return [...lines];
  const kept = lines.slice(0, most);
  let last = kept.pop() ?? '';
  while (last !== '' && !fits(`${last}…`)) last = last.slice(0, -1);
  return [...kept, `${last.trimEnd()}…`];
}

/** Outlines of a line of text; `baseline` is where the letters stand. */
export function outlineText(text: string, font: Font, place: { x: number; baseline: number; size: number }): Outline[] {
  const scale = place.size / font.unitsPerEm;
  const outlines: Outline[] = [];
  let x = place.x;
  let previous = 0;
  for (const character of text) {
    const glyph = font.glyphOf(character.codePointAt(0) ?? 0);
    x += font.kerningOf(previous, glyph) * scale;
    for (const contour of font.contoursOf(glyph)) {
      outlines.push(flatten(contour, { x, y: place.baseline, scale, steps: place.size > 60 ? 10 : 5 }));
    }
    x += font.advanceOf(glyph) * scale;
    previous = glyph;
  }
  return outlines;
}

function flatten(contour: Contour, place: { x: number; y: number; scale: number; steps: number }): Outline {
  const { x, y, scale, steps } = place;
  const outline: number[] = [];
  const add = (pointX: number, pointY: number) => outline.push(x + pointX * scale, y - pointY * scale);
  const at = (index: number) => contour[(index + contour.length) % contour.length] ?? { x: 0, y: 0, onCurve: true };
  for (let index = 0; index < contour.length; index += 1) {
    const point = at(index);
    if (point.onCurve) {
      add(point.x, point.y);
      continue;
    }
    const [before, after] = [at(index - 1), at(index + 1)];
    // Between two control points the curve passes through their middle, which the file leaves out.
    const start = before.onCurve ? before : { x: (before.x + point.x) / 2, y: (before.y + point.y) / 2 };
    const end = after.onCurve ? after : { x: (after.x + point.x) / 2, y: (after.y + point.y) / 2 };
    for (let step = 1; step <= steps; step += 1) {
      const share = step / steps;
      const [a, b, c] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
      add(a * start.x + b * point.x + c * end.x, a * start.y + b * point.y + c * end.y);
    }
  }
  return outline;
}
