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
} from 'yaml';
import type { Diagnostic, DiagnosticCode, Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { emptyMap, type JsonMap, shorten, unknownValue } from '../../ground/values.ts';
import { findOddEscape, type Unsendable, whyNumberIsUnsendable, whyTextIsUnsendable } from '../check/unsendable.ts';
import type { Tree } from './places.ts';
import { placeBetween, type Source } from './source.ts';

/** How many values aliases may repeat, so that a small file cannot grow into a huge one. */
const maxRepeatedValues = 100_000;
const maxDepth = 100;

const jsonTags = ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`);

/** The codes that a document's mistakes get: a manifest has codes of its own, a data file one for all. */
export interface YamlCodes {
  twice: DiagnosticCode;
  unquoted: DiagnosticCode;
  wrong: DiagnosticCode;
  tooLarge: DiagnosticCode;
  /** Absent, like the next, where nothing of the file is ever sent. */
  number?: DiagnosticCode;
  unsendable?: DiagnosticCode;
}

interface Converted {
  value: Json;
  /** How many values it holds, itself included. */
  size: number;
}

/**
 * Turns a parsed document into JSON: aliases and merge keys are followed, maps have no prototype, and what JSON cannot
 * hold is a mistake. Equal aliases share one value, so the result must not be changed.
 */
export function readTree(
  document: Document,
  options: { source: Source; codes: YamlCodes },
): {
  value: Json;
  tree: Tree;
  diagnostics: Diagnostic[];
} {
  const { source, codes } = options;
  const diagnostics: Diagnostic[] = [];
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  const done = new Map<Node, Converted>();
  let repeated = 0;
  let exhausted = false;

  function report(code: DiagnosticCode, node: unknown, words: { message: string; hint?: string; first?: Place }): Json {
    const { message, hint, first } = words;
    diagnostics.push({
      code,
      severity: 'error',
      message,
      ...(hint === undefined ? {} : { hint }),
      place: placeOf(node),
      ...(first === undefined ? {} : { related: [{ message: 'the first one', place: first }] }),
    });
    return unknownValue;
  }

  function placeOf(node: unknown): Place {
    const range = isNode(node) ? node.range : undefined;
    const [start, end] = range ?? [0, 0];
    if (start === end) {
      // An empty key has its place before the indentation; what a person sees is the `:` behind it.
      const blank = /^[ \t]*/.exec(source.text.slice(start, start + maxDepth * 10))?.[0].length ?? 0;
      return placeBetween(source, start + blank, start + blank + 1);
    }
    const length = source.text.slice(start, end).search(/[\r\n]/);
    return placeBetween(source, start, length === -1 ? end : start + length);
  }

  function convert(node: unknown, depth: number): Converted {
    if (isAlias(node)) return convertAlias(node, depth);
    if (!isNode(node)) return { value: null, size: 1 };
    if ('anchor' in node && typeof node.anchor === 'string') anchors.set(node.anchor, node);
    const converted = convertNode(node, depth);
    done.set(node, converted);
    return converted;
  }

  function convertNode(node: Node, depth: number): Converted {
    if (depth > maxDepth) {
      return {
        value: report(codes.tooLarge, node, {
          message: `values are nested deeper than ${maxDepth} levels`,
          hint: 'write them flatter',
        }),
        size: 1,
      };
    }
    const tag = 'tag' in node ? node.tag : undefined;
    if (typeof tag === 'string' && !jsonTags.includes(tag)) {
      const written = tag.replace('tag:yaml.org,2002:', '!!');
      const hint = 'leave the tag out; texts, numbers, true, false, lists and maps need none';
      return {
        value: report(codes.wrong, node, { message: `the tag ${shorten(written)} is not supported`, hint }),
        size: 1,
      };
    }
    if (isMap(node)) return convertMap(node, depth);
    if (isSeq(node)) {
      const items = node.items.map((item) => convert(item, depth + 1));
      return { value: items.map((item) => item.value), size: items.reduce((sum, item) => sum + item.size, 1) };
    }
    return { value: isScalar(node) ? scalarValue(node) : null, size: 1 };
  }

  function convertAlias(alias: Alias, depth: number): Converted {
    const target = anchors.get(alias.source);
    if (target === undefined) {
      const hint = `write &${alias.source} before the value that is meant, above this line in the same file`;
      return {
        value: report(codes.wrong, alias, { message: `*${alias.source} has no anchor above it`, hint }),
        size: 1,
      };
    }
    const converted = done.get(target);
    if (converted === undefined) {
      return {
        value: report(codes.wrong, alias, {
          message: `*${alias.source} stands inside of itself`,
          hint: `write out what is meant here, instead of *${alias.source}`,
        }),
        size: 1,
      };
    }
    targets.set(alias, target);
    repeated += converted.size;
    if (repeated > maxRepeatedValues || depth > maxDepth) {
      if (!exhausted) {
        const message = `aliases repeat more than ${maxRepeatedValues.toLocaleString('en-US')} values`;
        report(codes.tooLarge, alias, {
          message,
          hint: 'write large lists into a data file and read them with `foreach:`',
        });
      }
      exhausted = true;
      return { value: unknownValue, size: 1 };
    }
    return converted;
  }

  function convertMap(map: YAMLMap, depth: number): Converted {
    if (isUnquotedTemplate(map)) {
      const [start, end] = map.range ?? [0, 0];
      const written = shorten(source.text.slice(start, end));
      const message = `${written} is not quoted, so YAML reads it as a map`;
      return { value: report(codes.unquoted, map, { message, hint: `quote the template: "${written}"` }), size: 1 };
    }
    const value = emptyMap();
    const merged: JsonMap[] = [];
    const written = new Map<string, Node>();
    let size = 1;
    for (const pair of map.items) {
      const key = keyOf(pair);
      if (key === undefined) {
        const collection = isNode(pair.key) && isCollection(pair.key);
        report(codes.wrong, pair.key ?? pair.value ?? map, {
          message: collection ? 'a key must be a text, not a map or a list' : 'a key is empty',
          hint: collection
            ? 'write a name before the `:`, or quote the text that it begins with'
            : 'write a name before the `:`, or quote the text if the colon belongs to it',
        });
        continue;
      }
      const first = written.get(key);
      if (first !== undefined) {
        const line = placeOf(first).start.line;
        const message = `the key \`${shorten(key)}\` stands twice, first on line ${line}`;
        report(codes.twice, pair.key, { message, hint: 'remove or rename one of the two', first: placeOf(first) });
        continue;
      }
      if (isNode(pair.key)) written.set(key, pair.key);
      const odd = codes.unsendable === undefined ? undefined : whyTextIsUnsendable(key);
      if (odd !== undefined) {
        reportUnsendable(pair.key, odd);
        continue;
      }
      if (isNode(pair.key) && 'anchor' in pair.key && pair.key.anchor) anchors.set(pair.key.anchor, pair.key);
      const item = convert(pair.value, depth + 1);
      size += item.size;
      if (isMerge(pair)) merged.push(...mapsToMerge(pair, item.value));
      else value[key] = item.value;
    }
    for (const from of merged) {
      for (const [key, item] of Object.entries(from)) if (!Object.hasOwn(value, key)) value[key] = item;
    }
    return { value, size };
  }

  function mapsToMerge(pair: Pair, value: Json): JsonMap[] {
    const maps: JsonMap[] = [];
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === unknownValue) continue;
      if (typeof item === 'object' && item !== null && !Array.isArray(item)) maps.push(item);
      else
        report(codes.wrong, pair.key, {
          message: '<< merges maps only',
          hint: 'write `<<: *name`, where &name stands before a map',
        });
    }
    return maps;
  }

  function keyOf(pair: Pair): string | undefined {
    const key = isAlias(pair.key) ? anchors.get(pair.key.source) : pair.key;
    if (!isScalar(key) || key.value === null || key.value === '') return undefined;
    if (typeof key.value === 'string') return key.value;
    return typeof key.source === 'string' ? key.source : String(key.value);
  }

  /** An unquoted template at the start of a value is a flow map in a flow map. */
  function isUnquotedTemplate(map: YAMLMap): boolean {
    const start = map.range?.[0] ?? 0;
    return map.flow === true && source.text.startsWith('{{', start);
  }

  function scalarValue(node: Scalar): Json {
    const { value } = node;
    if (value === null || typeof value === 'boolean') return value;
    const written = typeof node.source === 'string' ? node.source : String(value);
    const odd = codes.unsendable === undefined ? undefined : whyUnsendable(value, written);
    if (odd !== undefined) return reportUnsendable(node, odd);
    if (typeof value === 'string') return value;
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      const hint = `quote it if it is a text: "${shorten(written)}"`;
      return report(codes.wrong, node, { message: `${shorten(written)} is not a number that JSON can hold`, hint });
    }
    if (codes.number !== undefined && String(value) !== written) {
      diagnostics.push({
        code: codes.number,
        severity: 'warning',
        message: `${shorten(written)} is read as the number ${value}`,
        hint: `quote it to keep it as it is written: "${shorten(written)}"`,
        place: placeOf(node),
      });
    }
    return value;
  }

  function reportUnsendable(node: unknown, { written, problem, hint }: Unsendable): Json {
    const range = isNode(node) ? node.range : undefined;
    const [start, end] = range ?? [0, 0];
    const odd = written === undefined ? findOddEscape(source.text.slice(start, end)) : undefined;
    const place = odd === undefined ? placeOf(node) : placeBetween(source, start + odd.start, start + odd.end);
    const message = `${written ?? 'a text'} ${problem}`;
    diagnostics.push({ code: codes.unsendable ?? codes.wrong, severity: 'error', message, hint, place });
    return unknownValue;
  }

  const { value } = convert(document.contents, 0);
  const resolve = (node: unknown): unknown => (isAlias(node) ? targets.get(node) : node);
  return { value, tree: { source, root: document.contents as Node | null, resolve, keyOf, isMerge }, diagnostics };
}

/** `.inf` and `.nan` are told as what they are. */
function whyUnsendable(value: unknown, written: string): Unsendable | undefined {
  if (typeof value === 'string') return whyTextIsUnsendable(value);
  const isNumber = typeof value === 'number' && /\d/.test(written);
  return isNumber ? whyNumberIsUnsendable(value, written) : undefined;
}

/** `<<` unquoted; a quoted "<<" is an ordinary key. */
function isMerge(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.source === '<<' && pair.key.type === 'PLAIN';
}
