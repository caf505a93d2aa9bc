import { createRandom, pick, type Random, wholeBetween } from './random.ts';

type PictureFormat = 'png' | 'jpeg' | 'webp';

export interface Scene {
  readonly seed: string;
  readonly prompt: string;
  readonly footer: string;
  readonly width: number;
  readonly height: number;
}

interface PictureOrder extends Scene {
  /** Defaults to PNG. */
  readonly format?: PictureFormat;
}

export async function drawPicture(order: PictureOrder): Promise<Uint8Array> {
  const picture = await openScene(order);
  switch (order.format ?? 'png') {
    case 'jpeg':
      return picture.jpeg({ quality: 88 }).toBuffer();
    case 'webp':
      return picture.webp({ quality: 82, effort: 0 }).toBuffer();
    default:
      return picture.png({ compressionLevel: 3 }).toBuffer();
  }
}

export async function openScene(scene: Scene) {
  const { default: sharp } = await import('sharp');
  return sharp(Buffer.from(writeSvg(scene))).removeAlpha();
}

/** The shapes in the picture depend on its texts, because a machine without fonts draws no text. */
function writeSvg({ seed, prompt, footer, width, height }: Scene): string {
  const random = createRandom(JSON.stringify([seed, prompt, footer]));
  const hue = wholeBetween(random, 0, 359);
  const shapes = Array.from({ length: wholeBetween(random, 4, 8) }, () => writeShape(random, { hue, width, height }));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    `<rect width="100%" height="100%" fill="hsl(${hue},55%,${wholeBetween(random, 30, 75)}%)"/>`,
    ...shapes,
    ...writeTexts(prompt, footer, { width, height }),
    '</svg>',
  ].join('');
}

type Frame = Pick<Scene, 'width' | 'height'>;

function writeShape(random: Random, { hue, width, height }: Frame & { readonly hue: number }): string {
  const size = Math.round((Math.min(width, height) * wholeBetween(random, 12, 45)) / 100);
  const [x, y] = [wholeBetween(random, 0, width), wholeBetween(random, 0, height)];
  const fill = `fill="hsl(${(hue + wholeBetween(random, 20, 340)) % 360},65%,${wholeBetween(random, 35, 80)}%)"`;
  const turn = `transform="rotate(${wholeBetween(random, 0, 89)} ${x} ${y})"`;
  return pick(random, [
    `<circle cx="${x}" cy="${y}" r="${size}" ${fill}/>`,
    `<rect x="${x - size}" y="${y - size}" width="${size * 2}" height="${size * 2}" ${fill} ${turn}/>`,
    `<rect x="${x - size}" y="${y - size / 4}" width="${size * 2}" height="${size / 2}" ${fill} ${turn}/>`,
    `<polygon points="${x},${y - size} ${x + size},${y + size} ${x - size},${y + size}" ${fill} ${turn}/>`,
    `<ellipse cx="${x}" cy="${y}" rx="${size}" ry="${size / 2}" ${fill} ${turn}/>`,
  ]);
}

function writeTexts(prompt: string, footer: string, { width, height }: Frame): string[] {
  const size = Math.max(8, Math.round(Math.min(width / 12, height / 8, (width + height) / 36)));
  const small = Math.max(6, Math.round(size * 0.55));
  const margin = Math.round(size * 0.6);
  const lines = wrapText(prompt, {
    columns: (width - 2 * margin) / (size * 0.58),
    rows: Math.min(6, Math.max(1, Math.floor((height * 0.5) / (size * 1.25)))),
  });
  const [foot = ''] = wrapText(footer, { columns: (width - 2 * margin) / (small * 0.58), rows: 1 });
  const top = height - Math.round(lines.length * size * 1.25 + small * 2 + margin);
  const write = (line: string, y: number, fontSize: number) =>
    `<text x="${margin}" y="${Math.round(y)}" font-size="${fontSize}" font-family="sans-serif" fill="#fff">${escapeXml(line)}</text>`;
  return [
    `<rect y="${top}" width="100%" height="${height - top}" fill="#000" fill-opacity="0.6"/>`,
    ...lines.map((line, index) => write(line, top + margin / 2 + size * (index * 1.25 + 1), size)),
    write(foot, height - small * 0.8, small),
  ];
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function wrapText(text: string, limits: { readonly columns: number; readonly rows: number }): string[] {
  const columns = Math.max(2, Math.floor(limits.columns));
  const lines: string[] = [];
  let line = '';
  // Removes control characters and lone surrogates, which XML forbids. Cuts a text that does not fit.
  const visible = text.slice(0, 2000).normalize('NFC').replaceAll(/\s+/g, ' ').replaceAll(/\p{C}/gu, '').trim();
  for (const word of visible.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (widthOf(joined) <= columns) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const character of word) {
      if (widthOf(line + character) > columns) {
        lines.push(line);
        line = '';
      }
      line += character;
    }
    if (lines.length > limits.rows) break;
  }
  lines.push(line);
  if (lines.length <= limits.rows) return lines;
  const last = [...(lines[limits.rows - 1] ?? '')];
  return [...lines.slice(0, limits.rows - 1), `${last.slice(0, columns - 1).join('')}…`];
}

function widthOf(text: string): number {
  return [...text].reduce((sum, character) => sum + (character >= '\u1100' ? 2 : 1), 0);
}
