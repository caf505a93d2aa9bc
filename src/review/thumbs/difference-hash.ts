import type { Pixels } from './shrink.ts';

/** Differences of this many columns in this many rows. */
const [columns, rows] = [8, 8] as const;
/** Standard deviation of the brightness, 0 to 255, under which a picture has nothing that could be compared. */
const leastContrast = 2;

/**
 * A difference hash: 64 bits as 16 hex digits, each bit saying whether a part of the picture is darker than its neighbour to
 * the right. Pictures that look alike differ in few bits. Undefined for a picture of a single color.
 */
export function differenceHash({ data, width, height }: Pixels): string | undefined {
  const grey = new Float64Array((columns + 1) * rows);
  const edge = (index: number, count: number, length: number) => (index * length) / count;
  for (let row = 0; row < rows; row += 1) {
    const [top, bottom] = wholePixels(edge(row, rows, height), edge(row + 1, rows, height), height);
    for (let column = 0; column <= columns; column += 1) {
      const [left, right] = wholePixels(edge(column, columns + 1, width), edge(column + 1, columns + 1, width), width);
      let sum = 0;
      for (let y = top; y < bottom; y += 1) {
        for (let at = (y * width + left) * 4; at < (y * width + right) * 4; at += 4) {
          sum += 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0);
        }
      }
      grey[row * (columns + 1) + column] = sum / ((bottom - top) * (right - left));
    }
  }
  const mean = grey.reduce((sum, value) => sum + value, 0) / grey.length;
  const variance = grey.reduce((sum, value) => sum + (value - mean) ** 2, 0) / grey.length;
  if (Math.sqrt(variance) < leastContrast) return undefined;
  let hex = '';
  for (let row = 0; row < rows; row += 1) {
    let byte = 0;
    for (let column = 0; column < columns; column += 1) {
      const at = row * (columns + 1) + column;
      byte = byte * 2 + ((grey[at] ?? 0) < (grey[at + 1] ?? 0) ? 1 : 0);
    }
    hex += byte.toString(16).padStart(2, '0');
  }
  return hex;
}

/** At least one pixel, also of a picture that has fewer of them than there are parts. */
function wholePixels(from: number, to: number, length: number): [from: number, to: number] {
  const first = Math.min(Math.floor(from), length - 1);
  return [first, Math.max(first + 1, Math.min(Math.floor(to), length))];
}
