import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { Diagnostic, DiagnosticCode, Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { emptyMap, isMap as isJsonMap, type JsonMap, type Path, shorten, unknownValue } from '../../ground/values.ts';
import { type Unsendable, whyNumberIsUnsendable, whyTextIsUnsendable } from '../check/unsendable.ts';
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

interface Tree {
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

function findPlaces(tree: Tree): FilePlaces {
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

/** Maximum number of values that aliases may repeat, so that a small file cannot become a huge value. */
const maxRepeatedValues = 100_000;
const maxDepth = 100;

const jsonTags = ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`);

interface YamlCodes {
  twice: DiagnosticCode;
  unquoted: DiagnosticCode;
  wrong: DiagnosticCode;
  tooLarge: DiagnosticCode;
  /** Omitted, like the next one, when nothing in the file is ever sent. */
  number?: DiagnosticCode;
  unsendable?: DiagnosticCode;
}

interface Converted {
  value: Json;
  /** The number of values in it, including itself. */
  size: number;
}

/**
 * Converts a parsed document to JSON: aliases and merge keys are resolved, maps have no prototype, and values that JSON
 * cannot represent are mistakes. Equal aliases share one value, so the result must not be changed.
 */
export function readTree(
  document: Document,
  options: { source: Source; codes: YamlCodes },
): { value: Json; places: FilePlaces; diagnostics: Diagnostic[] } {
  const reading = new TreeReading(options);
  const { value } = reading.convert(document.contents, 0);
  return { value, places: findPlaces(reading.treeAt(document.contents)), diagnostics: reading.diagnostics };
}

/** Conversion of one document. Each `convert…` method converts one form of node and reports its mistakes. */
class TreeReading {
  readonly diagnostics: Diagnostic[] = [];
  readonly #source: Source;
  readonly #codes: YamlCodes;
  /** Anchored nodes by name; a reused name refers to the later node from there on. */
  readonly #anchors = new Map<string, Node>();
  readonly #targets = new Map<Alias, Node>();
  readonly #done = new Map<Node, Converted>();
  #repeated = 0;
  #isExhausted = false;

  constructor({ source, codes }: { source: Source; codes: YamlCodes }) {
    this.#source = source;
    this.#codes = codes;
  }

  treeAt(root: Node | null): Tree {
    const resolve = (node: unknown): unknown => (isAlias(node) ? this.#targets.get(node) : node);
    return { source: this.#source, root, resolve, keyOf: (pair) => this.#keyOf(pair), isMerge };
  }

  convert(node: unknown, depth: number): Converted {
    if (isAlias(node)) return this.#convertAlias(node, depth);
    if (!isNode(node)) return { value: null, size: 1 };
    this.#noteAnchor(node);
    const converted = this.#convertNode(node, depth);
    this.#done.set(node, converted);
    return converted;
  }

  #noteAnchor(node: Node): void {
    if ('anchor' in node && typeof node.anchor === 'string') this.#anchors.set(node.anchor, node);
  }

  #convertNode(node: Node, depth: number): Converted {
    if (depth > maxDepth) {
      const message = `values are nested deeper than ${maxDepth} levels`;
      return this.#refuse(this.#codes.tooLarge, node, { message, hint: 'write them flatter' });
    }
    const tag = 'tag' in node ? node.tag : undefined;
    if (typeof tag === 'string' && !jsonTags.includes(tag)) {
      const written = tag.replace('tag:yaml.org,2002:', '!!');
      const hint = 'leave the tag out; texts, numbers, true, false, lists and maps need none';
      return this.#refuse(this.#codes.wrong, node, { message: `the tag ${shorten(written)} is not supported`, hint });
    }
    if (isMap(node)) return this.#convertMap(node, depth);
    if (isSeq(node)) return this.#convertList(node, depth);
    return isScalar(node) ? this.#convertScalar(node) : { value: null, size: 1 };
  }

  #convertAlias(alias: Alias, depth: number): Converted {
    const name = alias.source;
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const hint = `write &${name} before the value that is meant, above this line in the same file`;
      return this.#refuse(this.#codes.wrong, alias, { message: `*${name} has no anchor above it`, hint });
    }
    const converted = this.#done.get(target);
    if (converted === undefined) {
      const hint = `write out what is meant here, instead of *${name}`;
      return this.#refuse(this.#codes.wrong, alias, { message: `*${name} stands inside of itself`, hint });
    }
    this.#targets.set(alias, target);
    this.#repeated += converted.size;
    if (this.#repeated <= maxRepeatedValues && depth <= maxDepth) return converted;
    if (this.#isExhausted) return refused;
    this.#isExhausted = true;
    const message = `aliases repeat more than ${maxRepeatedValues.toLocaleString('en-US')} values`;
    const hint = 'write large lists into a data file and read them with `foreach:`';
    return this.#refuse(this.#codes.tooLarge, alias, { message, hint });
  }

  #convertList(list: YAMLSeq, depth: number): Converted {
    const items = list.items.map((item) => this.convert(item, depth + 1));
    return { value: items.map((item) => item.value), size: items.reduce((sum, item) => sum + item.size, 1) };
  }

  #convertMap(map: YAMLMap, depth: number): Converted {
    if (this.#isUnquotedTemplate(map)) {
      const written = shorten(this.#textOf(map));
      const message = `${written} is not quoted, so YAML reads it as a map`;
      return this.#refuse(this.#codes.unquoted, map, { message, hint: `quote the template: "${written}"` });
    }
    const value = emptyMap();
    const merged: JsonMap[] = [];
    const written = new Map<string, Node>();
    let size = 1;
    for (const pair of map.items) {
      const key = this.#readKey(pair, map, written);
      if (key === undefined) continue;
      const item = this.convert(pair.value, depth + 1);
      size += item.size;
      if (isMerge(pair)) merged.push(...this.#mapsToMerge(pair, item.value));
      else value[key] = item.value;
    }
    for (const from of merged) {
      for (const [key, item] of Object.entries(from)) if (!Object.hasOwn(value, key)) value[key] = item;
    }
    return { value, size };
  }

  /** Reads the key of a pair; undefined when it is unusable, which was reported. `written`: the keys before it. */
  #readKey(pair: Pair, map: YAMLMap, written: Map<string, Node>): string | undefined {
    const key = this.#keyOf(pair);
    if (key === undefined) {
      const isCollected = isNode(pair.key) && isCollection(pair.key);
      this.#refuse(this.#codes.wrong, pair.key ?? pair.value ?? map, isCollected ? keyIsCollection : keyIsEmpty);
      return undefined;
    }
    const first = written.get(key);
    if (first !== undefined) {
      const place = this.#placeOf(first);
      const message = `the key \`${shorten(key)}\` appears twice, first on line ${place.start.line}`;
      const related = [{ message: 'the first one', place }];
      const hint = key === '<<' ? 'merge both in one key: <<: [*a, *b]' : 'remove or rename one of the two';
      this.#refuse(this.#codes.twice, pair.key, { message, hint, related });
      return undefined;
    }
    if (isNode(pair.key)) written.set(key, pair.key);
    const odd = this.#codes.unsendable === undefined ? undefined : whyTextIsUnsendable(key);
    if (odd !== undefined) {
      this.#refuseUnsendable(pair.key, odd);
      return undefined;
    }
    if (isNode(pair.key)) this.#noteAnchor(pair.key);
    return key;
  }

  #keyOf(pair: Pair): string | undefined {
    const key = isAlias(pair.key) ? this.#anchors.get(pair.key.source) : pair.key;
    if (!isScalar(key) || key.value === null || key.value === '') return undefined;
    if (typeof key.value === 'string') return key.value;
    return typeof key.source === 'string' ? key.source : String(key.value);
  }

  #mapsToMerge(pair: Pair, value: Json): JsonMap[] {
    return (Array.isArray(value) ? value : [value]).flatMap((item) => {
      if (item === unknownValue) return [];
      if (isJsonMap(item)) return [item];
      const hint = 'write `<<: *name`, where &name stands before a map';
      this.#refuse(this.#codes.wrong, pair.key, { message: '<< merges maps only', hint });
      return [];
    });
  }

  /** Recognizes an unquoted template at the start of a value, which YAML reads as a flow map inside a flow map. */
  #isUnquotedTemplate(map: YAMLMap): boolean {
    const start = map.range?.[0] ?? 0;
    return map.flow === true && this.#source.text.startsWith('{{', start);
  }

  #convertScalar(node: Scalar): Converted {
    const { value } = node;
    if (value === null || typeof value === 'boolean') return { value, size: 1 };
    const written = typeof node.source === 'string' ? node.source : String(value);
    const odd = this.#codes.unsendable === undefined ? undefined : whyUnsendable(value, written);
    if (odd !== undefined) return this.#refuseUnsendable(node, odd);
    if (typeof value === 'string') return { value, size: 1 };
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      const message = `${shorten(written)} is not a number that JSON can hold`;
      const hint = `quote it if it is a text: "${shorten(written)}"`;
      return this.#refuse(this.#codes.wrong, node, { message, hint });
    }
    if (this.#codes.number !== undefined && String(value) !== written) {
      const message = `${shorten(written)} is read as the number ${value}`;
      const hint = `quote it to keep it as it is written: "${shorten(written)}"`;
      const place = this.#placeOf(node);
      this.diagnostics.push({ code: this.#codes.number, severity: 'warning', message, hint, place });
    }
    return { value, size: 1 };
  }

  #refuseUnsendable(node: unknown, { written, problem, hint }: Unsendable): Converted {
    const message = `${written ?? 'a text'} ${problem}`;
    return this.#refuse(this.#codes.unsendable ?? this.#codes.wrong, node, { message, hint });
  }

  #refuse(
    code: DiagnosticCode,
    node: unknown,
    words: Pick<Diagnostic, 'message' | 'hint' | 'place' | 'related'>,
  ): Converted {
    this.diagnostics.push({ code, severity: 'error', place: this.#placeOf(node), ...words });
    return refused;
  }

  #textOf(node: unknown): string {
    return this.#source.text.slice(...rangeOf(node));
  }

  #placeOf(node: unknown): Place {
    const { text } = this.#source;
    const [start, end] = rangeOf(node);
    if (start === end) {
      // An empty key is placed before the indentation, but a reader only sees the `:` after it.
      const blank = /^[ \t]*/.exec(text.slice(start, start + maxDepth * 10))?.[0].length ?? 0;
      return placeBetween(this.#source, start + blank, start + blank + 1);
    }
    const length = text.slice(start, end).search(/[\r\n]/);
    return placeBetween(this.#source, start, length === -1 ? end : start + length);
  }
}

const refused: Converted = { value: unknownValue, size: 1 };

const keyIsCollection = {
  message: 'a key must be a text, not a map or a list',
  hint: 'write a name before the `:`, or quote the text that it begins with',
};
const keyIsEmpty = {
  message: 'a key is empty',
  hint: 'write a name before the `:`, or quote the text if the colon belongs to it',
};

function rangeOf(node: unknown): [start: number, end: number] {
  const [start, end] = (isNode(node) ? node.range : undefined) ?? [0, 0];
  return [start, end];
}

function whyUnsendable(value: unknown, written: string): Unsendable | undefined {
  if (typeof value === 'string') return whyTextIsUnsendable(value);
  const isNumber = typeof value === 'number' && /\d/.test(written);
  return isNumber ? whyNumberIsUnsendable(value, written) : undefined;
}

/** Recognizes an unquoted `<<`; a quoted "<<" is an ordinary key. */
function isMerge(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.source === '<<' && pair.key.type === 'PLAIN';
}
