import type { Sharp } from 'sharp';

/** Differences of this many columns in this many rows. */
const [columns, rows] = [8, 8] as const;
/** Standard deviation of the brightness, 0 to 255, under which a picture has nothing that could be compared. */
const leastContrast = 2;

/**
 * A difference hash: 64 bits as 16 hex digits, each bit saying whether a part of the picture is darker than its neighbour to
 * the right. Pictures that look alike differ in few bits. Undefined for a picture of a single color.
 */
export async function differenceHash(picture: Sharp): Promise<string | undefined> {
  const small = picture.clone().resize({ width: columns + 1, height: rows, fit: 'fill' });
  const grey = await small.greyscale().toColourspace('b-w').raw().toBuffer();
  const mean = grey.reduce((sum, value) => sum + value, 0) / grey.length;
  const variance = grey.reduce((sum, value) => sum + (value - mean) ** 2, 0) / grey.length;
  if (Math.sqrt(variance) < leastContrast) return undefined;
  let bits = '';
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const at = row * (columns + 1) + column;
      bits += (grey[at] ?? 0) < (grey[at + 1] ?? 0) ? '1' : '0';
    }
  }
  return BigInt(`0b${bits}`).toString(16).padStart(16, '0');
}
