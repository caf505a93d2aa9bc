import type { Json } from '../../ground/json.ts';
import type { Diagram, DiagramNode, WorkNode } from './diagram.ts';
import { diagramWords, edgeWords, nodeWords } from './diagram-words.ts';

/** Limits of viewers; no text can raise them. */
export const mermaidLimits = { edges: 500, characters: 50_000 } as const;

/**
 * The diagram as a Mermaid flowchart, ending with a line feed; with names alone where the whole would be too long for a
 * viewer. Undefined when no viewer would draw it even so.
 */
export function diagramMermaid(diagram: Diagram): string | undefined {
  if (diagram.edges.length > mermaidLimits.edges) return undefined;
  return [writeFlowchart(diagram, 'whole'), writeFlowchart(diagram, 'names')].find(
    ({ length }) => length <= mermaidLimits.characters,
  );
}

function writeFlowchart({ campaign, nodes, edges }: Diagram, how: 'whole' | 'names'): string {
  const { name, sums } = diagramWords(campaign, nodes);
  const ids = new Map(nodes.map(({ id }, index) => [id, { name: `n${index}`, node: nodes[index] }]));
  const lines = ['%% mediabatch graph', 'flowchart LR', `  accTitle: ${bare(name)}`, `  accDescr: ${bare(sums)}`];
  if (how === 'names') lines.push('  %% names alone: with counts it would be longer than viewers take');
  for (const [index, node] of nodes.entries()) lines.push(`  n${index}${shapeOf(node, how)}`);
  for (const edge of edges) {
    const [from, to] = [ids.get(edge.from), ids.get(edge.to)];
    if (from?.node === undefined || to?.node === undefined) continue;
    const words = edgeWords(edge, [from.node, to.node]);
    const arrow = edge.links.every(({ is }) => is === 'needs') ? '-.->' : '-->';
    lines.push(`  ${from.name} ${arrow}${words === '' ? '' : `|"${inert(words)}"|`} ${to.name}`);
  }
  return `${lines.join('\n')}\n`;
}

/** A box, a hexagon for gates, a box with a double side for what is made of parts, a flag for canaries. */
function shapeOf(node: DiagramNode, how: 'whole' | 'names'): string {
  const { name, ...rest } = nodeWords(node);
  const lines = how === 'names' ? [name] : [name, ...Object.values(rest)];
  const text = `"${lines
    .filter((line) => line !== '')
    .map(inert)
    .join('<br/>')}"`;
  if (node.is === 'gate') return `{{${text}}}`;
  if (node.fanOut !== undefined) return `[[${text}]]`;
  return node.canary === undefined ? `[${text}]` : `>${text}]`;
}

/** Signs that mean nothing to Mermaid, wherever they stand in a quoted text. */
const others = /[^\p{L}\p{M}\p{N} .,/@+·≈…-]/gu;

/** A title, in which Mermaid knows no entity codes. */
function bare(text: string): string {
  return text.replace(others, ' ');
}

/** A text as entity codes wherever Mermaid, its HTML or its Markdown could read more than the characters. */
function inert(text: string): string {
  return text.replace(others, (sign) => `#${sign.codePointAt(0)};`);
}

/** The diagram for Graphviz, ending with a line feed. */
export function diagramDot({ campaign, nodes, edges }: Diagram): string {
  const { name, sums } = diagramWords(campaign, nodes);
  const lines = [
    '// mediabatch graph',
    `digraph ${quote(name)} {`,
    '  rankdir=LR',
    `  label=${quote(`${name}: ${sums}`)}`,
    '  labelloc=t',
    '  node [shape=box, style=rounded, fontname="Helvetica"]',
    '  edge [fontname="Helvetica", fontsize=10]',
  ];
  const names = new Map(nodes.map((node, index) => [node.id, { name: `n${index}`, node }]));
  for (const { name: own, node } of names.values()) lines.push(`  ${own} [${attributesOf(node)}]`);
  for (const edge of edges) {
    const [from, to] = [names.get(edge.from), names.get(edge.to)];
    if (from === undefined || to === undefined) continue;
    const words = edgeWords(edge, [from.node, to.node]);
    const attributes = [
      ...(words === '' ? [] : [`label=${quote(words)}`]),
      ...(edge.links.every(({ is }) => is === 'needs') ? ['style=dashed'] : []),
    ];
    lines.push(`  ${from.name} -> ${to.name}${attributes.length === 0 ? '' : ` [${attributes.join(', ')}]`}`);
  }
  return `${lines.join('\n')}\n}\n`;
}

function attributesOf(node: DiagramNode): string {
  const label = `label=${quoteLines(Object.values(nodeWords(node)).filter((line) => line !== ''))}`;
  if (node.is === 'gate') return `${label}, shape=hexagon, style=solid`;
  const parts = node.fanOut === undefined ? '' : ', peripheries=2';
  return `${label}${parts}${node.canary === undefined ? '' : ', shape=cds, style=solid'}`;
}

function quote(text: string): string {
  return quoteLines([text]);
}

/** Graphviz reads `\` as the start of an escape, and entities as HTML does. */
function quoteLines(lines: readonly string[]): string {
  const plain = (line: string) => line.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;');
  return `"${lines.map(plain).join('\\n')}"`;
}

/** The diagram for programs, as `schemas/graph.schema.json` describes it. */
export function diagramJson({ campaign, by, nodes, edges }: Diagram): Json {
  return {
    mediabatch: 'graph',
    version: 1,
    campaign,
    by,
    nodes: nodes.map((node) => (node.is === 'gate' ? { ...node, states: { ...node.states } } : workJson(node))),
    edges: edges.map(({ from, to, links }) => ({ from, to, links: links.map((link) => ({ ...link })) })),
  };
}

function workJson({ states, credits, canary, ...node }: WorkNode): Json {
  return {
    ...node,
    states: { ...states },
    credits: { ...credits },
    ...(canary !== undefined && { canary: { ...canary } }),
  };
}
