import { Graph, layout } from '@dagrejs/dagre';

/** Sizes and places in pixels, from the top left. */
export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

/** An edge between two boxes, by their index, with the size of its label, if it has one. */
export interface Arrow {
  from: number;
  to: number;
  label?: Size | undefined;
}

export interface Layout extends Size {
  /** The centers of the boxes. */
  boxes: Point[];
  arrows: {
    /** Points from the right side of one box to the left side of the other; between each two it runs without a turn. */
    points: Point[];
    /** The center of its label. */
    label?: Point;
  }[];
}

/** Space between boxes of a column, between lines that pass beside each other, and between columns. */
const gaps = { box: 22, line: 12, column: 60 };

/**
 * Lays boxes out in columns, from left to right, so that neither boxes nor labels overlap, and no line crosses either.
 * All boxes are `width` wide.
 */
export function layOut(width: number, heights: readonly number[], arrows: readonly Arrow[]): Layout {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: gaps.box, edgesep: gaps.line, ranksep: gaps.column });
  for (const [index, height] of heights.entries()) graph.setNode(String(index), { width, height });
  for (const { from, to, label } of arrows) {
    graph.setEdge(String(from), String(to), label === undefined ? {} : { ...label, labelpos: 'c' });
  }
  layout(graph);
  const whole = graph.graph();
  const boxes = heights.map((_, index) => centerOf(graph.node(String(index))));
  const columns = widths(boxes, width);
  const labels = arrows.map(
    ({ from, to, label }) => (label && centerOf(graph.edge(String(from), String(to)))) ?? undefined,
  );
  for (const [index, center] of labels.entries()) {
    const { width: own = 0 } = arrows[index]?.label ?? {};
    if (center !== undefined) columns.set(round(center.x), Math.max(own, columns.get(round(center.x)) ?? 0));
  }
  return {
    width: round(whole.width ?? 0),
    height: round(whole.height ?? 0),
    boxes,
    arrows: arrows.map(({ from, to }, index) => {
      const label = labels[index];
      const inner = (graph.edge(String(from), String(to)).points ?? []).slice(1, -1);
      const points = [
        beside(boxes[from], width / 2),
        ...inner.flatMap((point: Point) => acrossColumn(point, columns)),
        beside(boxes[to], -width / 2),
      ];
      return { points, ...(label !== undefined && { label }) };
    }),
  };
}

function widths(boxes: readonly Point[], width: number): Map<number, number> {
  return new Map(boxes.map(({ x }) => [x, width]));
}

/** A line runs straight where it passes boxes or labels of other lines, and bends between the columns only. */
function acrossColumn({ x, y }: Point, columns: ReadonlyMap<number, number>): Point[] {
  const half = (columns.get(round(x)) ?? 0) / 2;
  const at = (shift: number) => ({ x: round(x + shift), y: round(y) });
  return half === 0 ? [at(0)] : [at(-half), at(half)];
}

function beside(box: Point | undefined, shift: number): Point {
  return { x: round((box?.x ?? 0) + shift), y: box?.y ?? 0 };
}

function centerOf({ x, y }: { x?: number; y?: number }): Point {
  return { x: round(x ?? 0), y: round(y ?? 0) };
}

/** Halves and thirds of pixels print the same on every machine. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}
