import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import type { Place } from '../../ground/diagnostic.ts';
import type { Path } from '../../ground/values.ts';
import { placeBetween, type Source } from './source.ts';

/** Finds the place of a value in a manifest. Computed only for messages. */
export interface Places {
  /** Place of a scalar, or of the key of a map or list. If it is not written, the place of the nearest parent. */
  value(path: Path): Place;
  key(path: Path): Place;
  /** Place of a part of a text: UTF-16 offsets in the text as read, mapped to the text as written. */
  within(path: Path, part: { text: string; start: number; end: number }): Place;
}

export interface FilePlaces extends Places {
  readonly source: Source;
}

export interface Tree {
  readonly source: Source;
  readonly root: Node | null;
  resolve(node: unknown): unknown;
  keyOf(pair: Pair): string | undefined;
  isMerge(pair: Pair): boolean;
}

interface Spot {
  key: Node | undefined;
  value: unknown;
}

export function findPlaces(tree: Tree): FilePlaces {
  const { source } = tree;
  const indexes = new WeakMap<YAMLMap, Map<string, Pair>>();

  function indexOf(map: YAMLMap): Map<string, Pair> {
    let index = indexes.get(map);
    if (index === undefined) {
      index = new Map();
      for (const pair of map.items) {
        const key = tree.isMerge(pair) ? undefined : tree.keyOf(pair);
        if (key !== undefined && !index.has(key)) index.set(key, pair);
      }
      indexes.set(map, index);
    }
    return index;
  }

  function findPair(map: YAMLMap, key: string): Pair | undefined {
    const own = indexOf(map).get(key);
    if (own !== undefined) return own;
    for (const pair of map.items) {
      if (!tree.isMerge(pair)) continue;
      const merged = tree.resolve(pair.value);
      for (const from of isSeq(merged) ? merged.items.map((item) => tree.resolve(item)) : [merged]) {
        const found = isMap(from) ? findPair(from, key) : undefined;
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  function find(path: Path): Spot {
    let spot: Spot = { key: undefined, value: tree.root };
    for (const part of path) {
      const node = tree.resolve(spot.value);
      if (isMap(node)) {
        const pair = findPair(node, String(part));
        if (pair === undefined) return spot;
        spot = { key: isNode(pair.key) ? pair.key : undefined, value: pair.value };
      } else if (isSeq(node)) {
        const item = node.items[Number(part)];
        if (item === undefined) return spot;
        spot = { key: undefined, value: item };
      } else {
        return spot;
      }
    }
    return spot;
  }

  function placeOfNode(node: Node): Place {
    const [start, end] = node.range ?? [0, 0];
    const lineEnd = source.text.slice(start, end).search(/[\r\n]/);
    return placeBetween(source, start, lineEnd === -1 ? end : start + lineEnd);
  }

  function placeOfSpot(spot: Spot): Place {
    const node = tree.resolve(spot.value);
    const range = isScalar(node) ? node.range : undefined;
    const written = isScalar(node) && range && range[1] > range[0] ? node : undefined;
    if (written !== undefined) return placeOfNode(written);
    if (spot.key !== undefined) return placeOfNode(spot.key);
    if (isNode(node)) return placeOfNode(node);
    return placeBetween(source, 0, 0);
  }

  return {
    source,
    value: (path) => placeOfSpot(find(path)),
    key: (path) => {
      const spot = find(path);
      return spot.key === undefined ? placeOfSpot(spot) : placeOfNode(spot.key);
    },
    within: (path, part) => {
      const spot = find(path);
      const node = tree.resolve(spot.value);
      const range = isScalar(node) ? node.range : undefined;
      if (!range) return placeOfSpot(spot);
      const start = findPart(source.text.slice(range[0], range[1]), part);
      return start === undefined
        ? placeOfSpot(spot)
        : placeBetween(source, range[0] + start, range[0] + start + part.end - part.start);
    },
  };
}

/**
 * Returns the offset of a part of a text in its written form. Because quotes, indentation and escapes make the two
 * forms differ, the mustache around the part is counted: the third equal mustache as read is the third as written.
 */
function findPart(written: string, part: { text: string; start: number; end: number }): number | undefined {
  const opening = part.text.lastIndexOf('{{', part.start);
  const anchorStart = opening === -1 ? part.start : opening;
  const closing = part.text.indexOf('}}', Math.max(part.end - 2, anchorStart));
  const anchorEnd = closing === -1 ? part.text.length : closing + 2;
  const anchor = part.text.slice(anchorStart, anchorEnd);
  const inAnchor = part.start - anchorStart;
  const before = countOf(part.text.slice(0, anchorStart), anchor);
  for (const write of [asIs, doubleQuoted, singleQuoted]) {
    const start = nthIndexOf(written, write(anchor), before);
    if (start !== undefined) return start + write(anchor.slice(0, inAnchor)).length;
  }
  return undefined;
}

const asIs = (text: string): string => text;
const doubleQuoted = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
const singleQuoted = (text: string): string => text.replaceAll("'", "''");

function countOf(text: string, part: string): number {
  return part === '' ? 0 : text.split(part).length - 1;
}

function nthIndexOf(text: string, part: string, index: number): number | undefined {
  if (part === '') return undefined;
  let at = text.indexOf(part);
  for (let count = 0; count < index && at !== -1; count += 1) at = text.indexOf(part, at + part.length);
  return at === -1 ? undefined : at;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'range' in value;
}
