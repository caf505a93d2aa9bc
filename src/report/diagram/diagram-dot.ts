import type { Diagram, DiagramNode } from './diagram.ts';
import { diagramWords, edgeWords, nodeWords } from './diagram-words.ts';

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
