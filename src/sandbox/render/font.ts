import { readFile } from 'node:fs/promises';

/**
 * Reads a TrueType font: outlines, widths, kerning. Only the tables that the bundled font has, in the formats it has
 * them (cmap 4, kern 0); it is our own file, so nothing is defended against.
 */
export interface Font {
  readonly unitsPerEm: number;
  /** 0 for a character that the font does not have. */
  glyphOf(codePoint: number): number;
  /** Width of a glyph in font units. */
  advanceOf(glyph: number): number;
  /** Space added between two glyphs, in font units. */
  kerningOf(left: number, right: number): number;
  /** Font units, y upwards. */
  contoursOf(glyph: number): readonly Contour[];
}

export type Contour = readonly FontPoint[];

export interface FontPoint {
  readonly x: number;
  readonly y: number;
  /** Off the curve: a control point of a quadratic curve. */
  readonly onCurve: boolean;
}

export function readFont(bytes: Buffer): Font {
  const table = (name: string): Buffer => {
    for (let index = 0; index < bytes.readUInt16BE(4); index += 1) {
      const entry = 12 + index * 16;
      if (bytes.toString('latin1', entry, entry + 4) !== name) continue;
      const start = bytes.readUInt32BE(entry + 8);
      return bytes.subarray(start, start + bytes.readUInt32BE(entry + 12));
    }
    throw new Error(`internal error: the sandbox's font has no ${name} table`);
  };
  const head = table('head');
  const glyphs = readGlyphs({ glyf: table('glyf'), loca: table('loca'), longOffsets: head.readInt16BE(50) === 1 });
  const characters = readCharacters(table('cmap'));
  const kerning = readKerning(table('kern'));
  const widths = table('hmtx');
  const lastWidth = table('hhea').readUInt16BE(34) - 1;
  return {
    unitsPerEm: head.readUInt16BE(18),
    glyphOf: (codePoint) => characters.get(codePoint) ?? 0,
    advanceOf: (glyph) => widths.readUInt16BE(Math.min(glyph, lastWidth) * 4),
    kerningOf: (left, right) => kerning.get(left * 65536 + right) ?? 0,
    contoursOf: glyphs,
  };
}

function readCharacters(cmap: Buffer): Map<number, number> {
  const characters = new Map<number, number>();
  for (let index = 0; index < cmap.readUInt16BE(2); index += 1) {
    const map = cmap.subarray(cmap.readUInt32BE(8 + index * 8));
    if (map.readUInt16BE(0) !== 4) continue;
    const doubledSegments = map.readUInt16BE(6);
    for (let at = 0; at < doubledSegments; at += 2) {
      const last = map.readUInt16BE(14 + at);
      const first = map.readUInt16BE(16 + doubledSegments + at);
      const delta = map.readUInt16BE(16 + 2 * doubledSegments + at);
      const offsetAt = 16 + 3 * doubledSegments + at;
      const offset = map.readUInt16BE(offsetAt);
      for (let code = first; code <= last && code !== 0xffff; code += 1) {
        const raw = offset === 0 ? code : map.readUInt16BE(offsetAt + offset + 2 * (code - first));
        if (raw !== 0 || offset === 0) characters.set(code, (raw + delta) & 0xffff);
      }
    }
  }
  return characters;
}

function readKerning(kern: Buffer): Map<number, number> {
  const pairs = new Map<number, number>();
  for (let at = 4, tables = kern.readUInt16BE(2); tables > 0; tables -= 1) {
    const count = kern.readUInt16BE(at + 6);
    if (kern.readUInt16BE(at + 4) === 1) {
      for (let pair = at + 14; pair < at + 14 + count * 6; pair += 6) {
        pairs.set(kern.readUInt32BE(pair), kern.readInt16BE(pair + 4));
      }
    }
    at += kern.readUInt16BE(at + 2);
  }
  return pairs;
}

function readGlyphs(tables: { glyf: Buffer; loca: Buffer; longOffsets: boolean }): Font['contoursOf'] {
  const { glyf, loca, longOffsets } = tables;
  const offset = (glyph: number) => (longOffsets ? loca.readUInt32BE(glyph * 4) : loca.readUInt16BE(glyph * 2) * 2);
  const known = new Map<number, readonly Contour[]>();
  const contoursOf = (glyph: number): readonly Contour[] => {
    const contours = known.get(glyph) ?? read(glyph);
    known.set(glyph, contours);
    return contours;
  };
  const read = (glyph: number): readonly Contour[] => {
    const data = glyf.subarray(offset(glyph), offset(glyph + 1));
    if (data.length === 0) return [];
    const contours = data.readInt16BE(0);
    return contours < 0 ? readComposite(data, contoursOf) : readSimple(data, contours);
  };
  return contoursOf;
}

function readSimple(data: Buffer, contours: number): Contour[] {
  const ends = Array.from({ length: contours }, (_, index) => data.readUInt16BE(10 + index * 2));
  const count = (ends.at(-1) ?? -1) + 1;
  let at = 10 + contours * 2;
  at += 2 + data.readUInt16BE(at);
  const flags: number[] = [];
  while (flags.length < count) {
    const flag = data.readUInt8(at++);
    const repeats = flag & 8 ? data.readUInt8(at++) : 0;
    for (let times = 0; times <= repeats; times += 1) flags.push(flag);
  }
  const readAxis = (short: number, same: number) => {
    let value = 0;
    return flags.map((flag) => {
      if (flag & short) value += flag & same ? data.readUInt8(at) : -data.readUInt8(at);
      else if (!(flag & same)) value += data.readInt16BE(at);
      at += flag & short ? 1 : flag & same ? 0 : 2;
      return value;
    });
  };
  const xs = readAxis(2, 16);
  const ys = readAxis(4, 32);
  const points = flags.map((flag, index) => ({ x: xs[index] ?? 0, y: ys[index] ?? 0, onCurve: (flag & 1) === 1 }));
  return ends.map((end, index) => points.slice(index === 0 ? 0 : (ends[index - 1] ?? 0) + 1, end + 1));
}

/** A glyph made of others, such as a letter and its accent. */
function readComposite(data: Buffer, contoursOf: Font['contoursOf']): Contour[] {
  const contours: Contour[] = [];
  for (let at = 10, more = true; more; ) {
    const flags = data.readUInt16BE(at);
    const part = contoursOf(data.readUInt16BE(at + 2));
    at += 4;
    const [shiftX, shiftY] =
      flags & 1 ? [data.readInt16BE(at), data.readInt16BE(at + 2)] : [data.readInt8(at), data.readInt8(at + 1)];
    at += flags & 1 ? 4 : 2;
    const fixed = (position: number) => data.readInt16BE(position) / 16384;
    let matrix = [1, 0, 0, 1];
    if (flags & 8) matrix = [fixed(at), 0, 0, fixed(at)];
    else if (flags & 0x40) matrix = [fixed(at), 0, 0, fixed(at + 2)];
    else if (flags & 0x80) matrix = [fixed(at), fixed(at + 2), fixed(at + 4), fixed(at + 6)];
    at += flags & 8 ? 2 : flags & 0x40 ? 4 : flags & 0x80 ? 8 : 0;
    const [xx = 1, xy = 0, yx = 0, yy = 1] = matrix;
    for (const contour of part) {
      contours.push(
        contour.map(({ x, y, onCurve }) => ({
          x: x * xx + y * yx + shiftX,
          y: x * xy + y * yy + shiftY,
          onCurve,
        })),
      );
    }
    more = (flags & 0x20) !== 0;
  }
  return contours;
}

let font: Font | undefined;

/** The bundled font, read once. */
export async function loadFont(): Promise<Font> {
  font ??= readFont(await readFile(new URL('../assets/sandbox-sans.ttf', import.meta.url)));
  return font;
}
