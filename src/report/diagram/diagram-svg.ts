import { type StepState, stepStates } from '../../plan/situation/step-state.ts';
import { safeText } from '../safe-text.ts';
import { cutMiddle, cutToWidth } from '../text-width.ts';
import type { Diagram, DiagramNode } from './diagram.ts';
import { type Arrow, type Layout, layOut, type Point } from './diagram-layout.ts';
import { diagramWords, edgeWords, type NodeWords, nodeWords, stateWord } from './diagram-words.ts';
import { type Font, fonts, svgClass, svgStyle, widthOf, xmlText } from './svg-style.ts';

/** Size of the largest diagram that can be laid out within seconds, and read. */
export const svgLimits = { nodes: 300, edges: 500 } as const;

/** Sizes in pixels. */
const margin = 24;
const pad = 12;
const line = 16;
const barHeight = 6;
const flagWidth = 18;
const narrowest = 140;
/** Limits of texts, in columns. */
const most = { name: 32, words: 48, label: 28 } as const;

interface Box {
  node: DiagramNode;
  words: NodeWords;
  /** Size by its own texts; boxes of tasks all are as wide as the widest. */
  width: number;
  height: number;
}

/**
 * The diagram as a picture: SVG that needs no script, font or other file, for light and dark pages. Undefined when it has
 * more nodes or edges than `svgLimits`.
 */
export function diagramSvg(diagram: Diagram): string | undefined {
  const { campaign, nodes, edges } = diagram;
  if (nodes.length > svgLimits.nodes || edges.length > svgLimits.edges) return undefined;
  const { name, sums } = diagramWords(campaign, nodes);
  const boxes = nodes.map(boxOf);
  const width = boxes.reduce((widest, box) => Math.max(widest, box.width), narrowest);
  const position = new Map(nodes.map(({ id }, index) => [id, index]));
  const arrows = edges.flatMap((edge) => {
    const [from, to] = [position.get(edge.from), position.get(edge.to)];
    const [a, b] = [nodes[from ?? -1], nodes[to ?? -1]];
    if (from === undefined || to === undefined || a === undefined || b === undefined) return [];
    const words = edgeWords(edge, [a, b]);
    const isWeak = edge.links.every(({ is }) => is === 'needs');
    return [{ from, to, words: cutToWidth(words, most.label), full: words, isWeak }];
  });
  const places = layOut(
    width,
    boxes.map(({ height }) => height),
    arrows.map(({ from, to, words }): Arrow => ({ from, to, label: labelSize(words) })),
  );
  const head = [cutMiddle(name, 60), cutToWidth(sums, 120)] as const;
  const top = margin + 48;
  const states = stepStates.filter((state) => nodes.some((node) => node.is !== 'gate' && node.states[state] > 0));
  const legend = legendOf(states);
  const wide = Math.max(places.width, widthOf(head[0], 'title'), widthOf(head[1], 'words'), legend.width) + 2 * margin;
  const high = top + places.height + margin + (states.length > 0 ? 22 : 0);
  const size = `${Math.ceil(wide)} ${Math.ceil(high)}`;
  const [w, h] = size.split(' ');
  return `${[
    '<!-- mediabatch graph -->',
    `<svg xmlns="http://www.w3.org/2000/svg" class="${svgClass}" width="${w}" height="${h}" viewBox="0 0 ${size}" role="img" aria-labelledby="graph-title graph-desc">`,
    `<title id="graph-title">${xmlText(name)}</title>`,
    `<desc id="graph-desc">${xmlText(describe(diagram, sums))}</desc>`,
    `<style>${svgStyle}</style>`,
    '<defs><marker id="graph-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>',
    `<rect class="page" width="100%" height="100%"/>`,
    text(head[0], { x: margin, y: margin + 12, font: 'title' }),
    text(head[1], { x: margin, y: margin + 30, font: 'words' }),
    `<g transform="translate(${margin} ${top})">`,
    ...arrows.flatMap((arrow, index) =>
      arrowLines(arrow, places.arrows[index], [boxes[arrow.from], boxes[arrow.to]], width),
    ),
    ...boxes.flatMap((box, index) => boxLines(box, places.boxes[index], width)),
    '</g>',
    ...(states.length > 0 ? [`<g transform="translate(${margin} ${high - margin})">`, ...legend.lines, '</g>'] : []),
    '</svg>',
  ].join('\n')}\n`;
}

/** Describes the diagram in words, for whoever does not see it. */
function describe({ nodes, edges }: Diagram, sums: string): string {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const parts = nodes.map((node) => {
    const { name, ...rest } = nodeWords(node);
    return `${name}: ${Object.values(rest)
      .filter((one) => one !== '')
      .join(', ')}.`;
  });
  const ways = edges.flatMap((edge) => {
    const [from, to] = [known.get(edge.from), known.get(edge.to)];
    if (from === undefined || to === undefined) return [];
    const words = edgeWords(edge, [from, to]);
    return [`${nodeWords(from).name} → ${nodeWords(to).name}${words === '' ? '' : ` (${words})`}.`];
  });
  return [`${sums}.`, ...parts, ...ways].join(' ');
}

function boxOf(node: DiagramNode): Box {
  const { name, kind, canary, states, credits } = nodeWords(node);
  const words: NodeWords = {
    name: cutMiddle(name, most.name),
    kind: cutToWidth(kind, most.words),
    canary: cutToWidth(canary, most.words),
    states: cutToWidth(states, most.words),
    credits: cutToWidth(credits, most.words),
  };
  const { upper, lower } = linesOf(words);
  const flag = node.is !== 'gate' && node.canary !== undefined ? flagWidth : 0;
  const own = Math.max(widthOf(words.name, 'name') + flag, ...[...upper, ...lower].map((one) => widthOf(one, 'words')));
  const isGate = node.is === 'gate';
  const lines = upper.length + lower.length;
  const height = 2 * pad + line * (1 + lines) - 2 + (isGate ? 0 : barHeight + 6);
  return { node, words, width: own + 2 * pad + (isGate ? 2 * pad : 0), height };
}

function boxLines({ node, words, width: own, height }: Box, place: Point | undefined, widest: number): string[] {
  const { x, y } = place ?? { x: 0, y: 0 };
  const width = node.is === 'gate' ? own : widest;
  const [left, top] = [round(x - width / 2), round(y - height / 2)];
  const inner = left + (node.is === 'gate' ? 2 * pad : pad);
  const lines = [
    `<g data-task="${xmlText(safeText(node.task, 200))}"><title>${xmlText(hoverText(node))}</title>`,
    ...shapeLines(node, { left, top, width, height }),
  ];
  const { upper, lower } = linesOf(words);
  let baseline = top + pad + 11;
  lines.push(text(words.name, { x: inner, y: baseline, font: 'name' }));
  for (const one of upper) {
    baseline += line;
    lines.push(text(one, { x: inner, y: baseline, font: 'words' }));
  }
  if (node.is !== 'gate') {
    lines.push(...barLines(node.states, { left: inner, top: baseline + 8, width: width - 2 * pad }));
    baseline += barHeight + 6;
  }
  for (const one of lower) {
    baseline += line;
    lines.push(text(one, { x: inner, y: baseline, font: 'words' }));
  }
  return [...lines, '</g>'];
}

/** Lists the lines below the name, above and below the bar. */
function linesOf({ kind, canary, states, credits }: NodeWords): { upper: string[]; lower: string[] } {
  const said = (lines: string[]) => lines.filter((one) => one !== '');
  return { upper: said([kind, canary]), lower: said([states, credits]) };
}

function hoverText(node: DiagramNode): string {
  const lines = Object.values(nodeWords(node)).filter((one) => one !== '');
  const more = node.is !== 'gate' && node.description !== undefined ? [safeText(node.description, 500)] : [];
  return [...lines, ...more].join('\n');
}

/** A card; a pile of dashed cards for what is made of parts; a hexagon for gates. Canaries carry a flag. */
function shapeLines(node: DiagramNode, at: { left: number; top: number; width: number; height: number }): string[] {
  const { left, top, width, height } = at;
  if (node.is === 'gate') {
    const [right, middle, bottom] = [left + width, top + height / 2, top + height];
    const corners = [
      [left, middle],
      [left + pad, top],
      [right - pad, top],
      [right, middle],
      [right - pad, bottom],
      [left + pad, bottom],
    ];
    const points = corners.map(([x = 0, y = 0]) => `${round(x)},${round(y)}`).join(' ');
    const isOpen = node.states.decided < Object.values(node.states).reduce((sum, count) => sum + count, 0);
    return [`<polygon class="gate${isOpen ? ' open' : ''}" points="${points}"/>`];
  }
  const card = (shift: number) =>
    `<rect class="card${node.fanOut === undefined ? '' : ' parts'}" x="${round(left + shift)}" y="${round(top + shift)}" width="${round(width)}" height="${round(height)}" rx="8"/>`;
  const cards = node.fanOut === undefined ? [card(0)] : [card(6), card(3), card(0)];
  if (node.canary === undefined) return cards;
  const [x, y] = [round(left + width - pad - 10), round(top + pad - 1)];
  return [...cards, `<path class="flag ${node.canary.state}" d="M${x} ${y}v14m0 -14l10 4l-10 4z"/>`];
}

/** Every state that there is can be seen, however few steps are in it. */
function barLines(
  states: { [state in StepState]: number },
  at: { left: number; top: number; width: number },
): string[] {
  const there = stepStates.filter((state) => states[state] > 0);
  const total = there.reduce((sum, state) => sum + states[state], 0);
  const least = 3;
  const free = at.width - least * there.length;
  let left = at.left;
  return there.map((state) => {
    const width = least + (free * states[state]) / total;
    const piece = `<rect class="${state}" x="${round(left)}" y="${round(at.top)}" width="${round(width)}" height="${barHeight}"/>`;
    left += width;
    return piece;
  });
}

function arrowLines(
  { words, full, isWeak }: { words: string; full: string; isWeak: boolean },
  place: Layout['arrows'][number] | undefined,
  [from, to]: readonly (Box | undefined)[],
  widest: number,
): string[] {
  if (place === undefined) return [];
  const { points, label } = place;
  const inset = (box: Box | undefined) => (box?.node.is === 'gate' ? (widest - box.width) / 2 : 0);
  const [first, last] = [points[0], points.at(-1)];
  const ends = [
    ...(first !== undefined && inset(from) > 0 ? [{ x: round(first.x - inset(from)), y: first.y }] : []),
    ...points,
    ...(last !== undefined && inset(to) > 0 ? [{ x: round(last.x + inset(to)), y: last.y }] : []),
  ];
  const path = `<path class="line${isWeak ? ' weak' : ''}" d="${pathOf(ends)}" marker-end="url(#graph-head)"/>`;
  if (label === undefined || words === '') return [path];
  const { width, height } = labelSize(words) ?? { width: 0, height: 0 };
  const back = `<rect class="page" x="${round(label.x - width / 2)}" y="${round(label.y - height / 2)}" width="${width}" height="${height}"/>`;
  const shown = text(words, { x: label.x, y: label.y + 4, font: 'code', anchor: 'middle' });
  return [`<g><title>${xmlText(full)}</title>`, path, back, shown, '</g>'];
}

function labelSize(words: string): { width: number; height: number } | undefined {
  return words === '' ? undefined : { width: widthOf(words, 'code') + 8, height: fonts.code.size + 7 };
}

/** Straight where it stays on its height, else a bend that leaves and arrives level. */
function pathOf([first, ...others]: readonly Point[]): string {
  if (first === undefined) return '';
  let before = first;
  const parts = others.map((point) => {
    const middle = round((before.x + point.x) / 2);
    const part =
      before.y === point.y ? `H${point.x}` : `C${middle} ${before.y} ${middle} ${point.y} ${point.x} ${point.y}`;
    before = point;
    return part;
  });
  return `M${first.x} ${first.y}${parts.join('')}`;
}

function legendOf(states: readonly StepState[]): { lines: string[]; width: number } {
  let left = 0;
  const lines = states.map((state) => {
    const square = `<rect class="${state}" x="${left}" y="-9" width="10" height="10" rx="2"/>`;
    const word = text(stateWord(state), { x: left + 15, y: 0, font: 'words' });
    left += 15 + widthOf(stateWord(state), 'words') + 14;
    return `${square}${word}`;
  });
  return { lines, width: left };
}

function text(words: string, at: { x: number; y: number; font: Font; anchor?: 'middle' }): string {
  const anchor = at.anchor === undefined ? '' : ` text-anchor="${at.anchor}"`;
  return `<text class="${at.font}" x="${round(at.x)}" y="${round(at.y)}"${anchor}>${xmlText(words)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
