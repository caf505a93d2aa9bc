import { Document, isCollection, isMap, isScalar, type Node, Parser, visit } from 'yaml';
import type { Diagnostic } from '../../ground/diagnostic.ts';
import { canonicalJson, type Json } from '../../ground/json.ts';
import { manifestFaults, readYaml } from '../yaml/read-yaml.ts';
import { placeBetween, readSource } from '../yaml/source.ts';
import { formatTokens } from './format-tokens.ts';

/**
 * Formats a manifest: two columns of indentation, one space between words, at most one empty line, double quotes where
 * the text needs no escapes, comments aligned where they were. Order, comments, anchors, texts and line ends within
 * texts and brackets stay. For a text with syntax errors, or whose meaning would change, the mistakes are returned
 * instead.
 */
export function formatManifest(file: string, written: string): { text: string } | { diagnostics: Diagnostic[] } {
  const source = readSource(file, written);
  const before = readYaml(source, manifestFaults);
  const errors = before.diagnostics.filter(({ severity }) => severity === 'error');
  if (before.value === undefined || errors.length > 0) return { diagnostics: errors };
  // A lone carriage return ends no line in YAML, so the intended lines are unknown.
  if (/\r(?!\n)/.test(written)) return { text: written };
  const text = formatTokens(source.text, new Parser().parse(source.text));
  const after = readYaml(readSource(file, text), manifestFaults);
  if (after.value === undefined || canonicalJson(after.value) !== canonicalJson(before.value)) {
    const message = 'it would mean something else after formatting, so it is left as it is';
    const hint = 'look for a quote that is not closed; if there is none, this is a bug in mediabatch: please report it';
    const place = placeBetween(source, 0, 0);
    return { diagnostics: [{ code: 'MB1003', severity: 'error', message, hint, place }] };
  }
  return { text };
}

export interface YamlOptions {
  /** Returns the comment for a value: behind it, or above one of several lines. `path` leads to it from the root. */
  commentOf?(path: readonly string[]): string | undefined;
  /** Chooses the texts to put in double quotes, where everything in them can be escaped. */
  isQuoted?(text: string): boolean;
}

const longestFlow = 80;

/** Writes YAML that 1.1 and 1.2 read alike, formatted as manifests are: short, flat values go in brackets. */
export function writeYaml(value: { [key: string]: Json }, { commentOf, isQuoted }: YamlOptions = {}): string {
  const document = new Document(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === 'string' && isQuoted?.(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
    Collection(key, collection) {
      const items = isMap(collection) ? collection.items.map((pair) => pair.value) : collection.items;
      const isFlat = items.every((item) => isScalar(item) && !String(item.value).includes('\n'));
      collection.flow = key !== null && isFlat && JSON.stringify(collection).length <= longestFlow;
    },
  });
  if (commentOf !== undefined) addComments(document.contents, { path: [], commentOf });
  const text = document.toString({ lineWidth: 0, blockQuote: 'literal', singleQuote: false, doubleQuotedAsJSON: true });
  return formatTokens(text, new Parser().parse(text));
}

function addComments(
  node: unknown,
  { path, commentOf }: { path: readonly string[]; commentOf: NonNullable<YamlOptions['commentOf']> },
): void {
  if (!isMap<Node, Node>(node) || node.flow) return;
  for (const { key, value } of node.items) {
    const inner = [...path, String(key)];
    const comment = commentOf(inner);
    if (comment !== undefined && isCollection(value) && !value.flow) key.commentBefore = ` ${comment}`;
    else if (comment !== undefined && value !== null) value.comment = ` ${comment}`;
    addComments(value, { path: inner, commentOf });
  }
}
