import type { Blob, Face, Font } from 'harfbuzzjs';
import { shippedFonts } from './shipped-fonts.ts';
import { systemFonts } from './system-fonts.ts';

/** Loaded when the first text is set: it is a program of half a megabyte. */
export type HarfBuzz = typeof import('harfbuzzjs');

/** An open font. HarfBuzz frees what nobody holds any more. */
export interface OpenFont {
  font: Font;
  /** Units of the font in the side of its square. */
  unitsPerEm: number;
  /** Its signs are small PNG pictures. */
  hasPictures: boolean;
  /** Kept as long as the font. */
  of: { blob: Blob; face: Face };
}

/** A sign that leaves no mark and needs no font. */
export const isUnseen = /^[\p{Default_Ignorable_Code_Point}\p{Cc}]$/u;

/** Opens the fewest fonts that have every sign of these texts: those of this package first, then those of the system. */
export async function openFonts(hb: HarfBuzz, texts: Iterable<string>): Promise<OpenFont[]> {
  // The box for what no font has, the sign for what was left out.
  let missing = new Set([...texts].flatMap((text) => [...text]).filter((sign) => !isUnseen.test(sign)));
  missing.add('…');
  const fonts: OpenFont[] = [];
  for (const source of [shippedFonts, () => systemFonts([...missing].join(''))]) {
    if (missing.size === 0) break;
    for await (const bytes of source()) {
      const opened = openFont(hb, bytes);
      const rest = new Set([...missing].filter((sign) => !hasSign(opened, sign)));
      if (rest.size < missing.size) fonts.push(opened);
      missing = rest;
      if (missing.size === 0) break;
    }
  }
  return fonts;
}

function openFont(hb: HarfBuzz, bytes: Uint8Array): OpenFont {
  const blob = new hb.Blob(bytes);
  // Of a collection the first.
  const face = new hb.Face(blob, 0);
  return { font: new hb.Font(face), unitsPerEm: face.upem, hasPictures: face.hasColorPng(), of: { blob, face } };
}

export function hasSign({ font }: OpenFont, sign: string): boolean {
  return (font.nominalGlyph(sign.codePointAt(0) ?? 0) ?? 0) !== 0;
}
