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
import { emptyMap, ownValue, type Path, shorten, unknownValue } from '../../ground/values.ts';
import { type Unsendable, whyNumberIsUnsendable, whyTextIsUnsendable } from '../check/unsendable.ts';
import { placeBetween, type Source } from './source.ts';

/** Finds the place of a value in a manifest. Called only for messages. */
export interface Places {
  /**
   * Returns the place of a scalar, or of the key of a map or list. For a value that is not in the file, returns the
   * place of the nearest parent.
   */
  value(path: Path): Place;
  key(path: Path): Place;
  /** Returns the place of a part of a text. `start` and `end`: UTF-16 offsets in the parsed text. */
  within(path: Path, part: { text: string; start: number; end: number }): Place;
}

export interface FilePlaces extends Places {
  readonly source: Source;
}

interface Spot {
  key: unknown;
  value: unknown;
}

/**
 * Returns the offset of a part of a text in the YAML source, which also contains quotes, indentation and escapes.
 * Searches for the `{{…}}` around the part: the third one in the text, for example, is also the third in the source.
 */
function findPart(written: string, part: { text: string; start: number; end: number }): number | undefined {
  const opening = part.text.lastIndexOf('{{', part.start);
  const anchorStart = opening === -1 ? part.start : opening;
  const closing = part.text.indexOf('}}', Math.max(part.end - 2, anchorStart));
  const anchorEnd = closing === -1 ? part.text.length : closing + 2;
  const anchor = part.text.slice(anchorStart, anchorEnd);
  if (anchor === '') return undefined;
  const count = part.text.slice(0, anchorStart).split(anchor).length;
  for (const write of [asIs, doubleQuoted, singleQuoted]) {
    const between = written.split(write(anchor));
    if (between.length <= count) continue;
    const start = between.slice(0, count).join(write(anchor)).length;
    return start + write(part.text.slice(anchorStart, part.start)).length;
  }
  return undefined;
}

const asIs = (text: string): string => text;
const doubleQuoted = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
const singleQuoted = (text: string): string => text.replaceAll("'", "''");

/** Maximum number of values that aliases may repeat, so that a small file cannot become a huge value. */
const maxRepeatedValues = 100_000;
const maxDepth = 100;

const jsonTags = ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`);

export interface YamlCodes {
  twice: DiagnosticCode;
  unquoted: DiagnosticCode;
  wrong: DiagnosticCode;
  tooLarge: DiagnosticCode;
  /**
   * Code for a number whose parsed value differs from the written number. This code and `unsendable` are omitted for
   * files whose values are never sent.
   */
  number?: DiagnosticCode;
  unsendable?: DiagnosticCode;
}

interface Converted {
  value: Json;
  size: number;
  node?: Node;
  pairs?: ReadonlyMap<string, Pair>;
}

/**
 * Converts a document to JSON. Resolves aliases and merge keys. Reports values that JSON cannot represent. Aliases of
 * one anchor share the same object, so the result must not be modified.
 */
export function readTree(
  document: Document,
  options: { source: Source; codes: YamlCodes },
): { value: Json; places: FilePlaces; diagnostics: Diagnostic[] } {
  const reading = new TreeReading(options);
  const { value } = reading.convert(document.contents, 0);
  return { value, places: reading.placesBelow(document.contents), diagnostics: reading.diagnostics };
}

class TreeReading {
  readonly diagnostics: Diagnostic[] = [];
  readonly #source: Source;
  readonly #codes: YamlCodes;
  /** Nodes by the name of their anchor. If two anchors have the same name, an alias refers to the later node. */
  readonly #anchors = new Map<string, Node>();
  readonly #done = new Map<unknown, Converted>();
  #repeated = 0;
  #isExhausted = false;

  constructor({ source, codes }: { source: Source; codes: YamlCodes }) {
    this.#source = source;
    this.#codes = codes;
  }

  placesBelow(root: Node | null): FilePlaces {
    const { text } = this.#source;
    const value = (path: Path) => this.#placeOfValue(this.#find(root, path));
    return {
      source: this.#source,
      value,
      key: (path) => {
        const { key } = this.#find(root, path);
        return isNode(key) ? this.#placeOf(key) : value(path);
      },
      within: (path, part) => {
        const node = this.#nodeOf(this.#find(root, path).value);
        const [start, end] = rangeOf(node);
        const found = isScalar(node) ? findPart(text.slice(start, end), part) : undefined;
        if (found === undefined) return value(path);
        return placeBetween(this.#source, start + found, start + found + part.end - part.start);
      },
    };
  }

  #find(root: Node | null, path: Path): Spot {
    let spot: Spot = { key: undefined, value: root };
    for (const part of path) {
      const { node, pairs } = this.#done.get(spot.value) ?? {};
      const pair = pairs?.get(String(part));
      const item = isSeq(node) ? node.items[Number(part)] : undefined;
      if (pair === undefined && item === undefined) return spot;
      spot = { key: pair?.key, value: pair === undefined ? item : pair.value };
    }
    return spot;
  }

  #nodeOf(value: unknown): unknown {
    return this.#done.get(value)?.node ?? value;
  }

  #placeOfValue({ key, value }: Spot): Place {
    const node = this.#nodeOf(value);
    const [start, end] = rangeOf(node);
    const isWritten = isScalar(node) && end > start;
    return this.#placeOf(isWritten || !isNode(key) ? node : key);
  }

  convert(node: unknown, depth: number): Converted {
    if (!isNode(node)) return { value: null, size: 1 };
    this.#noteAnchor(node);
    const converted = isAlias(node) ? this.#convertAlias(node, depth) : { ...this.#convertNode(node, depth), node };
    this.#done.set(node, converted);
    return converted;
  }

  #noteAnchor(node: Node): void {
    if ('anchor' in node && typeof node.anchor === 'string') this.#anchors.set(node.anchor, node);
  }

  #convertNode(node: Node, depth: number): Converted {
    if (depth > maxDepth) {
      const message = `values are nested deeper than ${maxDepth} levels`;
      return this.#refuse(this.#codes.tooLarge, node, { message, hint: 'use fewer levels of lists and maps' });
    }
    const tag = 'tag' in node ? node.tag : undefined;
    if (typeof tag === 'string' && !jsonTags.includes(tag)) {
      const written = tag.replace('tag:yaml.org,2002:', '!!');
      const hint = 'leave the tag out; strings, numbers, true, false, lists and maps need none';
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
      const hint = `write &${name} before the value that it refers to, above this line in the same file`;
      return this.#refuse(this.#codes.wrong, alias, { message: `*${name} has no anchor above it`, hint });
    }
    const converted = this.#done.get(target);
    if (converted === undefined) {
      const hint = `write the value itself instead of *${name}`;
      return this.#refuse(this.#codes.wrong, alias, {
        message: `*${name} is inside the value that it refers to`,
        hint,
      });
    }
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
    const pairs = new Map<string, Pair>();
    const merged: Converted[] = [];
    const written = new Map<string, Node>();
    let size = 1;
    for (const pair of map.items) {
      const key = this.#readKey(pair, map, written);
      if (key === undefined) continue;
      const item = this.convert(pair.value, depth + 1);
      size += item.size;
      if (isMerge(pair)) {
        merged.push(...this.#mapsToMerge(pair, item));
      } else {
        value[key] = item.value;
        pairs.set(key, pair);
      }
    }
    for (const from of merged) {
      for (const [key, pair] of from.pairs ?? []) {
        if (pairs.has(key)) continue;
        value[key] = ownValue(from.value, key) ?? null;
        pairs.set(key, pair);
      }
    }
    return { value, size, pairs };
  }

  /**
   * Reads the key of a pair. If the key is unusable, reports an error and returns `undefined`. `written`: earlier keys
   * of the map.
   */
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

  #mapsToMerge(pair: Pair, from: Converted): Converted[] {
    const items = isSeq(from.node) ? from.node.items.map((item) => this.#done.get(item) ?? from) : [from];
    return items.filter(({ value, pairs }) => {
      if (value === unknownValue || pairs !== undefined) return pairs !== undefined;
      const hint = 'write `<<: *name`, where &name is written before a map';
      this.#refuse(this.#codes.wrong, pair.key, { message: '<< merges maps only', hint });
      return false;
    });
  }

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
    if (typeof value === 'string') {
      if (this.#codes.number !== undefined && node.type === 'PLAIN') this.#warnOfCut(node, value);
      return { value, size: 1 };
    }
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      const message = `${shorten(written)} is not a number that JSON can hold`;
      const hint = `quote the value if it is a string: "${shorten(written)}"`;
      return this.#refuse(this.#codes.wrong, node, { message, hint });
    }
    if (this.#codes.number !== undefined && String(value) !== written) {
      const message = `${shorten(written)} is read as the number ${value}`;
      const hint = `quote the value to keep it as written: "${shorten(written)}"`;
      const place = this.#placeOf(node);
      this.diagnostics.push({ code: this.#codes.number, severity: 'warning', message, hint, place });
    }
    return { value, size: 1 };
  }

  /** Warns if an anchor or a comment is probably meant as a part of the string. */
  #warnOfCut(node: Scalar, value: string): void {
    const { text } = this.#source;
    const [start, end] = rangeOf(node);
    const warn = (what: string, mark: string, from: number, length: number) => {
      const hint = `put the string in quotes if the ${mark} belongs to it`;
      const place = placeBetween(this.#source, from, from + length);
      this.diagnostics.push({
        code: 'MB1009',
        severity: 'warning',
        message: `an unquoted string ${what}`,
        hint,
        place,
      });
    };
    const { anchor } = node;
    if (anchor !== undefined && !text.includes(`*${anchor}`)) {
      const what = `begins after \`&${shorten(anchor)}\`, which YAML reads as an anchor that nothing uses`;
      warn(what, '&', text.lastIndexOf(`&${anchor}`, start), anchor.length + 1);
    }
    const after = /([ \t]+)(#[^\r\n]*)/y;
    after.lastIndex = end;
    const [, blank = '', comment] = after.exec(text) ?? [];
    // After a single word, `#` usually starts an intended comment.
    const hasWords = /\s/.test(value.replaceAll(/\{\{[^{}]*\}\}/g, ''));
    if (comment === undefined || !(hasWords || /^#(?:\S|\s\d)/.test(comment))) return;
    warn('ends before the #, which starts a comment', '#', end + blank.length, comment.length);
  }

  #refuseUnsendable(node: unknown, { written, problem, hint }: Unsendable): Converted {
    const message = `${written ?? 'a string'} ${problem}`;
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
      // The parser places an empty key before the indentation, but a reader sees only the `:`.
      const blank = /^[ \t]*/.exec(text.slice(start, start + maxDepth * 10))?.[0].length ?? 0;
      return placeBetween(this.#source, start + blank, start + blank + 1);
    }
    const length = text.slice(start, end).search(/[\r\n]/);
    return placeBetween(this.#source, start, length === -1 ? end : start + length);
  }
}

const refused: Converted = { value: unknownValue, size: 1 };

const keyIsCollection = {
  message: 'a key must be a string, not a map or a list',
  hint: 'write a name before the `:`, or quote the string that it begins with',
};
const keyIsEmpty = {
  message: 'a key is empty',
  hint: 'write a name before the `:`, or quote the string if the colon belongs to it',
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

function isMerge(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.source === '<<' && pair.key.type === 'PLAIN';
}
