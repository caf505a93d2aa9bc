import type { Diagram, DiagramNode } from './diagram.ts';
import { diagramWords, edgeWords, nodeWords } from './diagram-words.ts';

/** Limits of viewers; no text can raise them. */
export const mermaidLimits = { edges: 500, characters: 50_000 } as const;

/**
 * The diagram as a Mermaid flowchart, ending with a line feed; with names alone where the whole would be too long for a
 * viewer. Undefined when no viewer would draw it even so.
 */
export function diagramMermaid(diagram: Diagram): string | undefined {
  if (diagram.edges.length > mermaidLimits.edges) return undefined;
  return [write(diagram, 'whole'), write(diagram, 'names')].find(({ length }) => length <= mermaidLimits.characters);
}

function write({ campaign, nodes, edges }: Diagram, how: 'whole' | 'names'): string {
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
