import type { Json } from '../../ground/json.ts';
import type { Diagram, WorkNode } from './diagram.ts';

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
