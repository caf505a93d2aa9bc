import { Canvas } from './canvas.ts';
import { type Color, choosePalette, mix, type Palette } from './color.ts';
import { between, createRandom, pick, type Random } from './random.ts';
import type { Drawing, Size } from './scene.ts';
import { scenes } from './scenes.ts';

/** All that the seed decides about a picture or a film, before anything is written on it. */
export interface Stage {
  readonly palette: Palette;
  /** The ground alone; the scene is drawn over it. */
  readonly ground: Canvas;
  readonly drawScene: Drawing;
}

export function planStage(seed: string, size: Size): Stage {
  const random = createRandom(seed);
  const palette = choosePalette(random);
  const ground = new Canvas(size.width, size.height);
  paintGround(ground, palette.ground, random);
  return { palette, ground, drawScene: pick(random, scenes)(size, palette, random) };
}

const nodes = 40;

/** A soft gradient between colours at scattered places, over the whole canvas. */
function paintGround(canvas: Canvas, colors: readonly Color[], random: Random): void {
  const spots = colors.map((color, index) => ({
    color,
    // The first colours start at the top, so that light tends to come from above.
    x: between(random, -0.1, 1.1),
    y: between(random, 0, 0.5) + (0.6 * index) / colors.length,
    weight: between(random, 0.7, 1.3),
  }));
  const grid: Color[] = [];
  for (let row = 0; row <= nodes; row += 1) {
    for (let column = 0; column <= nodes; column += 1) {
      let total = 0;
      let sum: Color = [0, 0, 0];
      for (const { color, x, y, weight } of spots) {
        const distance = (column / nodes - x) ** 2 + (row / nodes - y) ** 2;
        const share = weight / (distance + 0.03) ** 1.6;
        total += share;
        sum = mix(sum, color, share / total);
      }
      grid.push(sum);
    }
  }
  spread(canvas, grid);
}

/** Fills in between the nodes of the grid, row by row. */
function spread(canvas: Canvas, grid: readonly Color[]): void {
  const { width, height, pixels } = canvas;
  const node = (row: number, column: number): Color => grid[row * (nodes + 1) + column] ?? [0, 0, 0];
  for (let y = 0; y < height; y += 1) {
    const gridY = (y / height) * nodes;
    const row = Math.floor(gridY);
    for (let column = 0; column < nodes; column += 1) {
      const left = mix(node(row, column), node(row + 1, column), gridY - row);
      const right = mix(node(row, column + 1), node(row + 1, column + 1), gridY - row);
      const start = Math.ceil((column * width) / nodes);
      const end = Math.ceil(((column + 1) * width) / nodes);
      const perPixel = nodes / width;
      let share = (start / width) * nodes - column;
      for (let at = (y * width + start) * 3; at < (y * width + end) * 3; at += 3) {
        pixels[at] = left[0] + (right[0] - left[0]) * share + 0.5;
        pixels[at + 1] = left[1] + (right[1] - left[1]) * share + 0.5;
        pixels[at + 2] = left[2] + (right[2] - left[2]) * share + 0.5;
        share += perPixel;
      }
    }
  }
}
