/** How much of each pixel an outline covers, 0 to 255, row by row. */
export interface Coverage {
  data: Uint8Array;
  width: number;
  height: number;
}

export type Point = readonly [x: number, y: number];

/** One closed line: where it begins, then its straight and curved pieces. In pixels, y downwards. */
export type Outline = readonly (readonly Point[])[];

/** Straight pieces that a curve is drawn as. */
const pieces = 6;

/**
 * Fills closed outlines by the exact area that they cover of each pixel. Each piece is given by the points after its
 * start: one of a line, two of a quadratic, three of a cubic curve.
 */
export function fillOutlines(outlines: readonly Outline[], width: number, height: number): Coverage {
  const stride = width + 2;
  const areas = new Float32Array(stride * (height + 1));
  for (const [[start] = [], ...rest] of outlines) {
    if (start === undefined) continue;
    let from = start;
    for (const points of rest) {
      for (const to of straighten(from, points)) {
        addLine(areas, stride, height, from, to);
        from = to;
      }
    }
    addLine(areas, stride, height, from, start);
  }
  const data = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    let sum = 0;
    for (let x = 0; x < width; x += 1) {
      sum += areas[y * stride + x] ?? 0;
      data[y * width + x] = Math.min(255, Math.abs(sum) * 255 + 0.5);
    }
  }
  return { data, width, height };
}

function straighten(from: Point, points: readonly Point[]): Point[] {
  if (points.length === 1) return [...points];
  return Array.from({ length: pieces }, (_, index) => pointAt([from, ...points], (index + 1) / pieces));
}

/** De Casteljau's: a curve of any degree. */
function pointAt(points: readonly Point[], t: number): Point {
  const [first = [0, 0], ...others] = points;
  if (others.length === 0) return first;
  const between = others.map((point, index): Point => {
    const [x, y] = points[index] ?? point;
    return [x + (point[0] - x) * t, y + (point[1] - y) * t];
  });
  return pointAt(between, t);
}

/**
 * Notes for every row by how much the coverage of all pixels to the right changes at each pixel that the line crosses:
 * summed up from the left these are areas.
 */
function addLine(areas: Float32Array, stride: number, height: number, a: Point, b: Point): void {
  if (a[1] === b[1]) return;
  const [sign, top, bottom] = a[1] < b[1] ? [1, a, b] : [-1, b, a];
  const slope = (bottom[0] - top[0]) / (bottom[1] - top[1]);
  const last = Math.min(height, Math.ceil(bottom[1]));
  for (let y = Math.max(0, Math.floor(top[1])); y < last; y += 1) {
    const [y0, y1] = [Math.max(y, top[1]), Math.min(y + 1, bottom[1])];
    const ends = [y0, y1].map((at) => clamp(top[0] + (at - top[1]) * slope, stride - 2)) as [number, number];
    addCrossing(areas, y * stride, { from: Math.min(...ends), to: Math.max(...ends), weight: (y1 - y0) * sign });
  }
}

function addCrossing(areas: Float32Array, row: number, line: { from: number; to: number; weight: number }): void {
  const { from, to, weight } = line;
  const [first, last] = [Math.floor(from), Math.max(Math.floor(from) + 1, Math.ceil(to))];
  // Area to the right of the line within its columns, up to the right edge of each.
  let before = 0;
  for (let column = first; column < last; column += 1) {
    const [left, right] = [Math.max(from, column), Math.min(to, column + 1)];
    const share = to === from ? 1 : (right - left) / (to - from);
    const passed = to === from ? 0 : Math.max(0, left - from) / (to - from);
    const covered = weight * (passed + share * (column + 1 - (left + right) / 2));
    const at = row + column;
    areas[at] = (areas[at] ?? 0) + covered - before;
    before = covered;
  }
  areas[row + last] = (areas[row + last] ?? 0) + weight - before;
}

function clamp(x: number, most: number): number {
  return Math.max(0, Math.min(most, x));
}
