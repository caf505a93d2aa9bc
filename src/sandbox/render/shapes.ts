import type { Outline } from './canvas.ts';

/** Outlines of simple shapes, in pixels. Angles in turns, clockwise from three o'clock. */

export function circle(x: number, y: number, radius: number): Outline {
  return arc(x, y, { radius, from: 0, to: 1 });
}

export function ring(x: number, y: number, options: { radius: number; thickness: number }): Outline[] {
  return [circle(x, y, options.radius), reverse(circle(x, y, options.radius - options.thickness))];
}

/** A slice of a disc, with its corner at the centre. */
export function slice(x: number, y: number, options: { radius: number; from: number; to: number }): Outline {
  return [x, y, ...arc(x, y, options)];
}

export function rectangle(x: number, y: number, size: { width: number; height: number }): Outline {
  return [x, y, x + size.width, y, x + size.width, y + size.height, x, y + size.height];
}

export function roundedRectangle(
  x: number,
  y: number,
  size: { width: number; height: number; radius: number },
): Outline {
  const { width, height } = size;
  const radius = Math.min(size.radius, width / 2, height / 2);
  const right = x + width - radius;
  const bottom = y + height - radius;
  return [
    ...arc(right, bottom, { radius, from: 0, to: 0.25 }),
    ...arc(x + radius, bottom, { radius, from: 0.25, to: 0.5 }),
    ...arc(x + radius, y + radius, { radius, from: 0.5, to: 0.75 }),
    ...arc(right, y + radius, { radius, from: 0.75, to: 1 }),
  ];
}

/** The area between two curves that run over the whole width. */
export function band(width: number, upper: (x: number) => number, lower: (x: number) => number): Outline {
  const steps = 160;
  const outline: number[] = [];
  for (let step = 0; step <= steps; step += 1) outline.push((width * step) / steps, upper((width * step) / steps));
  for (let step = steps; step >= 0; step -= 1) outline.push((width * step) / steps, lower((width * step) / steps));
  return outline;
}

function arc(x: number, y: number, options: { radius: number; from: number; to: number }): number[] {
  const { radius, from, to } = options;
  // So many corners that none of them is a fifth of a pixel off the circle.
  const steps = Math.max(4, Math.ceil(Math.abs(to - from) * Math.PI * Math.sqrt(2.5 * Math.max(1, radius))));
  const outline: number[] = [];
  for (let step = 0; step <= steps; step += 1) {
    const angle = (from + ((to - from) * step) / steps) * 2 * Math.PI;
    outline.push(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  }
  return outline;
}

function reverse(outline: Outline): Outline {
  const reversed: number[] = [];
  for (let index = outline.length - 2; index >= 0; index -= 2) {
    reversed.push(outline[index] ?? 0, outline[index + 1] ?? 0);
  }
  return reversed;
}
