import type { Canvas, Outline } from './canvas.ts';
import type { Palette } from './color.ts';
import type { Contour, Font } from './font.ts';
import { circle, roundedRectangle } from './shapes.ts';

export interface Caption {
  readonly font: Font;
  readonly palette: Palette;
  readonly prompt: string;
  readonly footer: string;
  /** The largest size of the prompt, as a share of the usual one. */
  readonly promptScale?: number;
}

const lineHeight = 1.28;
/** More characters than fit on any picture, so that no more are looked at. */
const longestPrompt = 12_000;

/** A dark card at the lower left: the prompt, as large as it can be, and the footer under it. */
export function drawCaption(canvas: Canvas, caption: Caption): void {
  const { font, palette, promptScale = 1 } = caption;
  const { width, height } = canvas;
  const short = Math.min(width, height);
  const unit = Math.min(short, Math.sqrt(width * height) * 0.75);
  const margin = unit * 0.045;
  const padding = unit * 0.045;
  const widest = Math.min(width - 2 * margin - 2 * padding, unit * 1.5);
  const footer = fitFooter(caption, { size: unit * 0.026, width: widest });
  const room = height * 0.62 - 2 * margin - 2 * padding - footer.size * 2.4;
  const prompt = fitPrompt(caption, {
    largest: unit * 0.085 * promptScale,
    smallest: unit * 0.03,
    width: widest,
    height: room,
  });

  const textWidth = Math.max(footer.width, ...prompt.lines.map((line) => measureText(line, font, prompt.size)));
  const cardWidth = textWidth + 2 * padding;
  const promptHeight = prompt.lines.length * prompt.size * lineHeight;
  const cardHeight = promptHeight + footer.size * 2.1 + 2 * padding;
  const [left, top] = [margin, height - margin - cardHeight];
  const card = roundedRectangle(left, top, { width: cardWidth, height: cardHeight, radius: unit * 0.03 });
  canvas.fill([card], { top: palette.dark, bottom: palette.dark, opacity: 0.88 });

  const white = { top: palette.light, bottom: palette.light };
  for (const [index, line] of prompt.lines.entries()) {
    const baseline = top + padding + prompt.size * (0.86 + index * lineHeight);
    canvas.fill(outlineText(line, font, { x: left + padding, baseline, size: prompt.size }), { ...white, opacity: 1 });
  }
  const baseline = top + cardHeight - padding - footer.size * 0.1;
  const dots = palette.accents.slice(0, 4);
  for (const [index, color] of dots.entries()) {
    const x = left + padding + footer.size * (0.45 + index * 0.7);
    const dot = circle(x, baseline - footer.size * 0.36, footer.size * 0.45);
    canvas.fill([dot], { top: color, bottom: color, opacity: 1 });
  }
  const x = left + padding + footer.dotsWidth;
  canvas.fill(outlineText(footer.text, font, { x, baseline, size: footer.size }), { ...white, opacity: 0.8 });
}

/** The largest size at which the whole prompt fits; at the smallest, the rest is cut. */
function fitPrompt(
  caption: Caption,
  limits: { largest: number; smallest: number; width: number; height: number },
): { size: number; lines: string[] } {
  const { font } = caption;
  const text = prepareText(caption.prompt.slice(0, longestPrompt), font);
  const { width } = limits;
  for (let size = limits.largest; ; size *= 0.92) {
    const most = Math.max(1, Math.floor(limits.height / (size * lineHeight)));
    const lines = wrapText(text, font, { size, width });
    const broken = lines.length > Math.min(most, size > limits.smallest * 1.6 ? 4 : most);
    if (!broken) return { size, lines };
    if (size * 0.92 < limits.smallest) {
      return { size, lines: cutLines(lines, most, (line) => measureText(line, font, size) <= width) };
    }
  }
}

function fitFooter(caption: Caption, limits: { size: number; width: number }) {
  const text = prepareText(caption.footer, caption.font);
  const natural = measureText(text, caption.font, limits.size) + limits.size * 3.7;
  const size = limits.size * Math.min(1, limits.width / natural);
  const dotsWidth = size * 3.7;
  return { text, size, dotsWidth, width: measureText(text, caption.font, size) + dotsWidth };
}

/** Stands for a character that the font does not have. */
const missing = '□';

/**
 * The text as it can be drawn: accents composed, white space made plain, and one box for each character that the font
 * lacks (joiners and variation signs belong to the character before them).
 */
function prepareText(text: string, font: Font): string {
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
function measureText(text: string, font: Font, size: number): number {
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
function wrapText(text: string, font: Font, options: { size: number; width: number }): string[] {
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
function cutLines(lines: readonly string[], most: number, fits: (line: string) => boolean): string[] {
  if (lines.length <= most) return [...lines];
  const kept = lines.slice(0, most);
  let last = kept.pop() ?? '';
  while (last !== '' && !fits(`${last}…`)) last = last.slice(0, -1);
  return [...kept, `${last.trimEnd()}…`];
}

/** Outlines of a line of text; `baseline` is where the letters stand. */
function outlineText(text: string, font: Font, place: { x: number; baseline: number; size: number }): Outline[] {
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
