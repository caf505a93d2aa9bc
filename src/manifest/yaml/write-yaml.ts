import { Document, isCollection, isMap, isScalar, type Node, visit } from 'yaml';
import type { Json } from '../../ground/json.ts';

interface YamlOptions {
  commentOf?(path: readonly string[]): string | undefined;
  isQuoted?(text: string): boolean;
}

const longestFlow = 80;

/** Writes YAML that has the same meaning in versions 1.1 and 1.2. Writes short, flat lists and maps in brackets. */
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
  return document.toString({ lineWidth: 0, blockQuote: 'literal', singleQuote: false, doubleQuotedAsJSON: true });
}

function addComments(
  node: unknown,
  { path, commentOf }: { path: readonly string[]; commentOf: NonNullable<YamlOptions['commentOf']> },
): void {
  if (!isMap<Node, Node>(node)) return;
  // A list in brackets on one line has no room for comments.
  if (node.items.some(({ key }) => commentOf([...path, String(key)]) !== undefined)) node.flow = false;
  if (node.flow) return;
  for (const { key, value } of node.items) {
    const inner = [...path, String(key)];
    const comment = commentOf(inner);
    if (comment !== undefined && isCollection(value) && !value.flow) key.commentBefore = ` ${comment}`;
    else if (comment !== undefined && value !== null) value.comment = ` ${comment}`;
    addComments(value, { path: inner, commentOf });
  }
}
