import type { Canvas } from './canvas.ts';
import type { Palette } from './color.ts';
import type { Font } from './font.ts';
import { circle, roundedRectangle } from './shapes.ts';
import { cutLines, measureText, outlineText, prepareText, wrapText } from './text.ts';

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
