import type { Json } from '../ground/json.ts';
import { safeJson, safeText } from './safe-text.ts';

/** Says what stands behind a value as a comment. `path` leads to it, from the value that is printed. */
export type CommentOf = (path: readonly string[]) => string | undefined;

/** A value as YAML 1.2 in block style, each key on its own line; maps and lists of scalars that are short go in brackets. */
export function yamlText(value: { [key: string]: Json }, commentOf: CommentOf = () => undefined): string {
  return mapLines(value, { indent: 0, path: [], commentOf })
    .map((line) => `${line}\n`)
    .join('');
}

interface Where {
  indent: number;
  path: readonly string[];
  commentOf: CommentOf;
}

const longestFlow = 80;

function mapLines(map: { [key: string]: Json }, { indent, path, commentOf }: Where): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const inner = [...path, key];
    const comment = commentOf(inner);
    const head = `${' '.repeat(indent)}${textOf(key)}:`;
    return valueLines(head, value, { indent: indent + 2, path: inner, commentOf, remark: remarkOf(comment) });
  });
}

/** A value behind `key:` or `-`. */
function valueLines(head: string, value: Json, where: Where & { remark: string }): string[] {
  const { indent, remark } = where;
  if (typeof value === 'string' && isBlockText(value)) {
    const margin = ' '.repeat(indent);
    const lines = value.replace(/\n$/, '').split('\n');
    return [
      `${head} ${value.endsWith('\n') ? '|' : '|-'}${remark}`,
      ...lines.map((line) => (line === '' ? '' : `${margin}${line}`)),
    ];
  }
  const flow = flowOf(value);
  if (flow !== undefined) return [`${head} ${flow}${remark}`];
  if (Array.isArray(value)) {
    const items = value.flatMap((item, index) =>
      valueLines(`${' '.repeat(indent)}-`, item, {
        ...where,
        indent: indent + 2,
        path: [...where.path, String(index)],
        remark: '',
      }),
    );
    return [`${head}${remark}`, ...items];
  }
  return [`${head}${remark}`, ...mapLines(value as { [key: string]: Json }, where)];
}

/** On one line, where that is short and has nothing within that is not a scalar. */
function flowOf(value: Json): string | undefined {
  if (value === null || typeof value !== 'object') return scalarOf(value);
  const items = Object.values(value);
  if (items.some((item) => item !== null && typeof item === 'object')) return undefined;
  if (items.some((item) => typeof item === 'string' && item.includes('\n'))) return undefined;
  const parts = Array.isArray(value)
    ? value.map((item) => flowScalar(item))
    : Object.entries(value).map(([key, item]) => `${flowScalar(key)}: ${flowScalar(item)}`);
  const text = Array.isArray(value) ? `[${parts.join(', ')}]` : parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
  return text.length <= longestFlow || items.length === 0 ? text : undefined;
}

function scalarOf(value: Exclude<Json, object>): string;
function scalarOf(value: Json): string;
function scalarOf(value: Json): string {
  return typeof value === 'string' ? textOf(value) : JSON.stringify(value);
}

/** In brackets a comma ends a text. */
function flowScalar(value: Json): string {
  return typeof value === 'string' && /[,[\]{}]/.test(value) ? safeJson(value) : scalarOf(value);
}

const plain = /^[A-Za-z][\w .,/()+'@-]*$/;
/** What YAML 1.1 or 1.2 reads as something else than a text. */
const words = /^(true|false|null|yes|no|on|off|y|n)$/i;

function textOf(text: string): string {
  const isPlain = plain.test(text) && !words.test(text) && !text.endsWith(' ');
  return isPlain ? text : safeJson(text);
}

/** Lines that can be shown as they are: nothing in them is escaped, or read as indentation. */
function isBlockText(text: string): boolean {
  const body = text.replace(/\n$/, '');
  return /^\S.*\n/.test(text) && !/[ \t]$/m.test(body) && !body.endsWith('\n') && !body.includes('\t') && isClean(body);
}

function isClean(text: string): boolean {
  return text.split('\n').every((line) => safeText(line, 100_000) === line);
}

function remarkOf(comment: string | undefined): string {
  return comment === undefined ? '' : ` # ${safeText(comment)}`;
}
