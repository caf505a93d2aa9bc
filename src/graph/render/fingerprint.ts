import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../../ground/json.ts';
import { unknownValue } from '../../ground/values.ts';
import { flatText } from '../../manifest/rows/rows.ts';
import type { OpenRequest } from '../graph.ts';

/**
 * Returns the identity of a step's purchase. Two steps with equal fingerprints are the same purchase. The fingerprint
 * is a hash of the kind, the request, and the number of the take (except for the first take). The digit before `:` is
 * the version of the format.
 */
export function fingerprintStep(step: { kind: string; paidRequest: OpenRequest; take?: number | undefined }): string {
  const covered: Json = { kind: step.kind, request: step.paidRequest }; // I6 (request)
  // The first take has no number in its fingerprint, so that takes can be added without buying the first one again.
  if (step.take !== undefined && step.take > 1) covered.take = step.take;
  return flatText('1:', hash('sha256', canonicalJson(covered))); // I5
}

/** Returns the fingerprint of a pick that is not made yet. It changes whenever a step of the gate changes. */
export function fingerprintChoice(members: readonly string[]): string {
  return fingerprintStep({ kind: 'gate', paidRequest: { members: [...members] } });
}

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

export function findReferences(request: Json): string[] {
  const found = new Set<string>();
  const visit = (value: Json): void => {
    if (value === null || typeof value !== 'object') return;
    // An unknown value must never be sent. All unknown values were reported as mistakes, so this is a bug.
    if (value === unknownValue) throw new Error('internal error: a request holds an unknown value');
    if (!Array.isArray(value) && typeof value.$ref === 'string') found.add(value.$ref);
    for (const item of Object.values(value)) visit(item);
  };
  visit(request);
  return [...found];
}
