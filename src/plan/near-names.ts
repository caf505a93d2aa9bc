import { nearestName } from '../manifest/suggest.ts';
import type { Named } from './names.ts';

/** Most suggestions. */
const most = 5;

/** Suggests the addresses, of the named task if it exists, that begin most alike, and the nearest one. */
export function nearNames(written: string, known: readonly Named[]): string[] {
  const text = written.replace(/^\+|\+$/g, '').replaceAll('"', '');
  const addresses = known.map(({ address }) => address);
  const ofTask = known.filter(({ task }) => task === text.split(/[@/]/, 1)[0]).map(({ address }) => address);
  const among = ofTask.length > 0 ? ofTask : addresses;
  const nearest = nearestName(text, among);
  const alike = longestStart(text, among);
  return [...new Set([...(nearest === undefined ? [] : [nearest]), ...alike])].slice(0, most);
}

/** Finds those that share the longest beginning with a text, if that is at least three characters or all of it. */
function longestStart(text: string, addresses: readonly string[]): string[] {
  let longest = Math.min(3, text.length);
  let found: string[] = [];
  for (const address of addresses) {
    const shared = sharedStart(text, address);
    if (shared < longest || shared === 0) continue;
    if (shared > longest) found = [];
    longest = shared;
    found.push(address);
  }
  return found;
}

function sharedStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
