import type { SvgPathCommand } from 'harfbuzzjs';
import type { Outline, Point } from './rasterize.ts';

/** The outlines of a sign, from units of its font (y upwards) to pixels; `x` and `y`: where its origin comes to lie. */
export function outlinesOf(
  commands: readonly SvgPathCommand[],
  { scale, x, y }: { scale: number; x: number; y: number },
): Outline[] {
  const outlines: Point[][][] = [];
  for (const { type, values } of commands) {
    const points = Array.from({ length: values.length >> 1 }, (_, index): Point => {
      const [right = 0, up = 0] = values.slice(index * 2, index * 2 + 2);
      return [x + right * scale, y - up * scale];
    });
    if (type === 'M') outlines.push([points]);
    else if (points.length > 0) outlines.at(-1)?.push(points);
  }
  // Where each begins stands for itself.
  return outlines;
}
