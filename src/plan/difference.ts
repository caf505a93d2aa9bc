import type { OpenRequest } from '../graph/graph.ts';
import { canonicalJson, type Json } from '../ground/json.ts';

/** Describes on one line how the request that was bought differs from the one that the manifest asks for now. */
export function describeDifference(bought: OpenRequest, wanted: OpenRequest): string {
  const changes: string[] = [];
  for (const field of [...new Set([...Object.keys(bought), ...Object.keys(wanted)])].sort()) {
    const before = bought[field];
    const after = wanted[field];
    if (before === undefined) changes.push(`${field} is new`);
    else if (after === undefined) changes.push(`${field} is gone`);
    else if (canonicalJson(before) !== canonicalJson(after)) changes.push(describeChange(field, before, after));
  }
  return changes.length === 0 ? 'an input changed' : changes.join('; ');
}

function describeChange(field: string, before: Json, after: Json): string {
  if (typeof before === 'string' && typeof after === 'string') {
    const [shortBefore, shortAfter] = shorten(before, after);
    return `${field} changed: “${shortBefore}” → “${shortAfter}”`;
  }
  if (isScalar(before) && isScalar(after)) return `${field} changed: ${String(before)} → ${String(after)}`;
  return `${field} changed`;
}

function isScalar(value: Json): boolean {
  return value === null || typeof value !== 'object';
}

const shownLength = 32;

/** Shortens long texts to the part from the first word that differs. */
function shorten(before: string, after: string): [string, string] {
  if (before.length <= shownLength && after.length <= shownLength) return [before, after];
  let same = 0;
  while (same < before.length && same < after.length && before[same] === after[same]) same += 1;
  const start = Math.max(0, before.lastIndexOf(' ', same - 1) + 1);
  const cut = (text: string) =>
    `${start > 0 ? '…' : ''}${text.slice(start, start + shownLength)}${text.length > start + shownLength ? '…' : ''}`;
  return [cut(before), cut(after)];
}
