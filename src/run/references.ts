import type { OpenRequest } from '../graph/graph.ts';
import type { Json } from '../json.ts';
import type { StepOrder } from '../plan/plan.ts';

/** The steps whose outputs a request uses, each with the fingerprint of the purchase that is meant. */
export function referencedJobs({
  request,
  paidRequest,
}: Pick<StepOrder, 'request' | 'paidRequest'>): { address: string; fingerprint: string }[] {
  const jobs = new Map<string, string>();
  // Both are the same tree; they differ in what each `$ref` names.
  const visit = (open: Json | undefined, paid: Json | undefined): void => {
    if (open === null || paid === null || typeof open !== 'object' || typeof paid !== 'object') return;
    if (Array.isArray(open) && Array.isArray(paid)) {
      open.forEach((item, index) => {
        visit(item, paid[index]);
      });
    } else if (!Array.isArray(open) && !Array.isArray(paid)) {
      if (typeof open.$ref === 'string' && typeof paid.$ref === 'string') jobs.set(open.$ref, paid.$ref);
      else for (const key of Object.keys(open)) visit(open[key], paid[key]);
    }
  };
  visit(request, paidRequest);
  return [...jobs].map(([address, fingerprint]) => ({ address, fingerprint }));
}

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
