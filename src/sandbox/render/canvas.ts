import type { Color } from './color.ts';

/** A closed outline: x, y, x, y, … in pixels. */
export type Outline = readonly number[];

/** Colour from the top to the bottom of what is filled. */
export interface Paint {
  readonly top: Color;
  readonly bottom: Color;
  /** 0 to 1. */
  readonly opacity: number;
}

/**
 * Pixels that outlines are filled into, with exact area coverage at the edges: each edge adds its signed area to the
 * cells it crosses, and a running sum over the row is the coverage.
 */
export class Canvas {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue, row by row. */
  readonly pixels: Uint8Array;
  private coverage = new Float32Array(0);
  private cellsPerRow = 0;
  private rows = 0;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.pixels = new Uint8Array(width * height * 3);
  }

  /** Fills the outlines as one shape. An outline that runs the other way round cuts a hole. */
  fill(outlines: readonly Outline[], paint: Paint): void {
    const box = this.boxOf(outlines);
    if (box === undefined) return;
    this.rows = box.bottom - box.top;
    // Two cells more than pixels: an edge at the right border writes into the next cell.
    this.cellsPerRow = box.right - box.left + 2;
    const cells = this.rows * this.cellsPerRow;
    if (this.coverage.length < cells) this.coverage = new Float32Array(cells);
    else this.coverage.fill(0, 0, cells);
    for (const outline of outlines) {
      let fromX = (outline.at(-2) ?? 0) - box.left;
      let fromY = (outline.at(-1) ?? 0) - box.top;
      for (let index = 0; index < outline.length; index += 2) {
        const toX = (outline[index] ?? 0) - box.left;
        const toY = (outline[index + 1] ?? 0) - box.top;
        this.addEdge(fromX, fromY, toX, toY);
        fromX = toX;
        fromY = toY;
      }
    }
    this.blend(box, paint);
  }

  private boxOf(outlines: readonly Outline[]) {
    let [left, top, right, bottom] = [this.width, this.height, 0, 0];
    for (const outline of outlines) {
      for (let index = 0; index < outline.length; index += 2) {
        const x = outline[index] ?? 0;
        const y = outline[index + 1] ?? 0;
        if (x < left) left = x;
        if (x > right) right = x;
        if (y < top) top = y;
        if (y > bottom) bottom = y;
      }
    }
    left = Math.max(0, Math.floor(left));
    top = Math.max(0, Math.floor(top));
    right = Math.min(this.width, Math.ceil(right));
    bottom = Math.min(this.height, Math.ceil(bottom));
    return right > left && bottom > top ? { left, top, right, bottom } : undefined;
  }

  private addEdge(fromX: number, fromY: number, toX: number, toY: number): void {
    if (fromY === toY) return;
    const down = fromY < toY;
    const slope = (toX - fromX) / (toY - fromY);
    const lastX = this.cellsPerRow - 2;
    const start = Math.max(0, down ? fromY : toY);
    const end = Math.min(this.rows, down ? toY : fromY);
    const { coverage } = this;
    for (let row = Math.floor(start); row < end; row += 1) {
      const rowStart = Math.max(start, row);
      const rowEnd = Math.min(end, row + 1);
      const area = down ? rowEnd - rowStart : rowStart - rowEnd;
      const oneX = Math.min(lastX, Math.max(0, fromX + (rowStart - fromY) * slope));
      const otherX = Math.min(lastX, Math.max(0, fromX + (rowEnd - fromY) * slope));
      const left = Math.min(oneX, otherX);
      const right = Math.max(oneX, otherX);
      const first = Math.floor(left);
      const cell = row * this.cellsPerRow + first;
      if (right <= first + 1) {
        const toTheRight = (left + right) / 2 - first;
        coverage[cell] = (coverage[cell] ?? 0) + area * (1 - toTheRight);
        coverage[cell + 1] = (coverage[cell + 1] ?? 0) + area * toTheRight;
      } else {
        this.addFlatEdge(cell, { left: left - first, right: right - first, area });
      }
    }
  }

  /** An edge that crosses several cells of one row: each cell gets its share of the trapezoid. */
  private addFlatEdge(cell: number, edge: { left: number; right: number; area: number }): void {
    const { left, right, area } = edge;
    const perPixel = area / (right - left);
    let covered = 0;
    let before = 0;
    const lastCell = Math.ceil(right);
    for (let index = 0; index < lastCell; index += 1) {
      const start = Math.max(left, index);
      const stop = Math.min(right, index + 1);
      // The part of this cell to the right of the edge, as area: what is passed counts whole, the crossing half.
      const crossing = (stop - start) * perPixel;
      const total = covered + crossing * (index + 1 - (start + stop) / 2);
      this.coverage[cell + index] = (this.coverage[cell + index] ?? 0) + total - before;
      before = total;
      covered += crossing;
    }
    this.coverage[cell + lastCell] = (this.coverage[cell + lastCell] ?? 0) + area - before;
  }

  private blend(box: { left: number; top: number; right: number; bottom: number }, paint: Paint): void {
    const { pixels, coverage } = this;
    const { top, bottom, opacity } = paint;
    for (let row = 0; row < this.rows; row += 1) {
      const share = this.rows > 1 ? row / (this.rows - 1) : 0;
      const red = Math.round(top[0] + (bottom[0] - top[0]) * share);
      const green = Math.round(top[1] + (bottom[1] - top[1]) * share);
      const blue = Math.round(top[2] + (bottom[2] - top[2]) * share);
      let sum = 0;
      let cell = row * this.cellsPerRow;
      let at = ((box.top + row) * this.width + box.left) * 3;
      for (const end = at + (box.right - box.left) * 3; at < end; at += 3) {
        sum += coverage[cell] ?? 0;
        cell += 1;
        const alpha = (Math.min(1, Math.abs(sum)) * opacity * 256 + 0.5) | 0;
        if (alpha === 0) continue;
        const [oldRed, oldGreen, oldBlue] = [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0];
        pixels[at] = oldRed + (((red - oldRed) * alpha + 128) >> 8);
        pixels[at + 1] = oldGreen + (((green - oldGreen) * alpha + 128) >> 8);
        pixels[at + 2] = oldBlue + (((blue - oldBlue) * alpha + 128) >> 8);
      }
    }
  }
}
