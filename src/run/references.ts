import type { OpenRequest } from '../graph/graph.ts';
import type { Json } from '../json.ts';

/** The request as it is sent: every reference replaced by the link of that step's output. */
export function fillReferences(request: OpenRequest, links: ReadonlyMap<string, string>): Json {
  const fill = (value: Json): Json => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value.$ref === 'string') {
      const link = links.get(value.$ref);
      if (link === undefined) throw new Error(`internal error: no link for ${value.$ref}`);
      return link;
    }
    if (Array.isArray(value.$text)) return value.$text.map((part) => String(fill(part))).join('');
    const filled: { [key: string]: Json } = {};
    for (const [key, item] of Object.entries(value)) filled[key] = fill(item);
    return filled;
  };
  return fill(request);
}
