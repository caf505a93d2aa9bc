import type { Pixels } from '../thumbs/shrink.ts';
import { type Coverage, fillOutlines, type Outline } from './text/rasterize.ts';

/** Red, green, blue; 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A picture to draw on, opaque. What lies beyond its edges is not drawn. */
export class Canvas implements Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;

  constructor(width: number, height: number, ground: Color) {
    this.width = width;
    this.height = height;
    this.data = new Uint8ClampedArray(width * height * 4);
    new Uint32Array(this.data.buffer).fill(packed(ground));
  }

  fill({ x, y, width, height }: Box, color: Color): void {
    const cells = new Uint32Array(this.data.buffer);
    const [left, right] = [Math.max(0, x), Math.min(this.width, x + width)];
    for (let row = Math.max(0, y); row < Math.min(this.height, y + height); row += 1) {
      cells.fill(packed(color), row * this.width + left, row * this.width + Math.max(left, right));
    }
  }

  /** Lines inside the edges of a box. */
  frame({ x, y, width, height }: Box, line: number, color: Color): void {
    this.fill({ x, y, width, height: line }, color);
    this.fill({ x, y: y + height - line, width, height: line }, color);
    this.fill({ x, y, width: line, height }, color);
    this.fill({ x: x + width - line, y, width: line, height }, color);
  }

  /** An opaque picture, as it is. `faded`: how much of it the color takes, 0 to 1. */
  picture({ data, width, height }: Pixels, at: { x: number; y: number }, faded?: { to: Color; by: number }): void {
    for (let row = 0; row < height; row += 1) {
      for (let column = 0; column < width; column += 1) {
        const from = (row * width + column) * 4;
        const color: Color = [data[from] ?? 0, data[from + 1] ?? 0, data[from + 2] ?? 0];
        this.#mix(at.x + column, at.y + row, color, 1);
        if (faded !== undefined) this.#mix(at.x + column, at.y + row, faded.to, faded.by);
      }
    }
  }

  /** A picture with holes, drawn as large as the box. */
  stamp({ data, width, height }: Pixels, box: Box): void {
    const [columns, rows] = [Math.ceil(box.width), Math.ceil(box.height)];
    for (let y = 0; y < rows; y += 1) {
      for (let x = 0; x < columns; x += 1) {
        const [left, right] = span(x, columns, width);
        const [top, bottom] = span(y, rows, height);
        let [red, green, blue, alpha] = [0, 0, 0, 0];
        for (let row = top; row < bottom; row += 1) {
          for (let at = (row * width + left) * 4; at < (row * width + right) * 4; at += 4) {
            const opaque = data[at + 3] ?? 0;
            red += (data[at] ?? 0) * opaque;
            green += (data[at + 1] ?? 0) * opaque;
            blue += (data[at + 2] ?? 0) * opaque;
            alpha += opaque;
          }
        }
        if (alpha === 0) continue;
        const color: Color = [red / alpha, green / alpha, blue / alpha];
        this.#mix(Math.round(box.x) + x, Math.round(box.y) + y, color, alpha / ((bottom - top) * (right - left) * 255));
      }
    }
  }

  cover({ data, width, height }: Coverage, at: { x: number; y: number }, color: Color): void {
    for (let row = 0; row < height; row += 1) {
      for (let column = 0; column < width; column += 1) {
        const share = data[row * width + column] ?? 0;
        if (share > 0) this.#mix(at.x + column, at.y + row, color, share / 255);
      }
    }
  }

  /** Outlines in a box of their own. */
  outlines(outlines: readonly Outline[], box: Box, color: Color): void {
    this.cover(fillOutlines(outlines, box.width, box.height), box, color);
  }

  #mix(x: number, y: number, color: Color, share: number): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const at = (y * this.width + x) * 4;
    for (let channel = 0; channel < 3; channel += 1) {
      const old = this.data[at + channel] ?? 0;
      this.data[at + channel] = old + ((color[channel] ?? 0) - old) * share;
    }
  }
}

/** Opaque, as the four bytes of a pixel lie in memory. */
function packed([red, green, blue]: Color): number {
  return new Uint32Array(new Uint8ClampedArray([red, green, blue, 255]).buffer)[0] ?? 0;
}

/** Which old pixels a new one is made of; at least one. */
function span(index: number, count: number, old: number): [number, number] {
  const from = Math.floor((index * old) / count);
  return [from, Math.max(from + 1, Math.floor(((index + 1) * old) / count))];
}
