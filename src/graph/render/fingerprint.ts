import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../../ground/json.ts';
import { unknownValue } from '../../ground/values.ts';
import { flatText } from '../../manifest/flat-text.ts';
import type { OpenRequest } from '../graph.ts';

/**
 * Identifies the purchase of a step: equal fingerprints are one purchase. Covers the kind, the request (with the
 * fingerprints of the steps it refers to) and, from the second on, the take; nothing else. The digit is the version.
 */
export function fingerprintStep(step: { kind: string; paidRequest: OpenRequest; take?: number | undefined }): string {
  const covered: Json = { kind: step.kind, request: step.paidRequest }; // I6 (request)
  // The first take is the request itself, so that asking for more takes later does not buy it again.
  if (step.take !== undefined && step.take > 1) covered.take = step.take;
  return flatText('1:', hash('sha256', canonicalJson(covered))); // I5
}

/** Stands in a paid request for what is not picked yet: it changes with any of the steps that may be. */
export function fingerprintChoice(members: readonly string[]): string {
  return fingerprintStep({ kind: 'gate', paidRequest: { members: [...members] } });
}

/** Replaces every `$ref` of a request; the shape stays the same. */
export function replaceReferences(request: OpenRequest, replace: (address: string) => string): OpenRequest {
  const visit = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(visit);
    if (value === null || typeof value !== 'object') return value;
    const copy: { [key: string]: Json } = {};
    for (const [key, item] of Object.entries(value)) {
      copy[key] = key === '$ref' && typeof item === 'string' ? replace(item) : visit(item); // I6 (reference)
    }
    return copy;
  };
  return visit(request) as OpenRequest;
}

/** Lists the addresses that a request refers to. */
export function findReferences(request: Json): string[] {
  const found = new Set<string>();
  const visit = (value: Json): void => {
    if (value === null || typeof value !== 'object') return;
    // Every request comes through here; wrong values were reported by now, and an unknown value is never sent.
    if (value === unknownValue) throw new Error('internal error: a request holds a value that is not known');
    if (!Array.isArray(value) && typeof value.$ref === 'string') found.add(value.$ref);
    for (const item of Object.values(value)) visit(item);
  };
  visit(request);
  return [...found];
}
