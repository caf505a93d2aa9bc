import type { Json } from '../../ground/json.ts';
import { isScalar, type JsonMap, mapOf, ownValue, shorten, unknownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { listNames, nearestName, pathPart, suggestName } from '../../manifest/suggest.ts';
import { explainUnprintable } from '../../manifest/template/render-template.ts';
import type { NamePath, TemplateFault } from '../../manifest/template/template.ts';

type RowShape = 'none' | 'unknown' | { label: string; columns?: readonly string[] | undefined };

type RootName = 'vars' | 'row' | 'matrix' | 'key' | 'take' | 'tasks';

export interface KnownNames {
  what: string;
  roots: readonly RootName[];
  vars: JsonMap;
  row?: RowShape;
  axes?: readonly string[] | 'unknown' | undefined;
  hasKey?: boolean;
  hasTakes?: boolean;
  axisColumns?: ReadonlyMap<string, readonly string[]>;
  tables?: ReadonlyMap<string, RowShape>;
  tasks?: ReadonlyMap<string, string | undefined>;
}

/**
 * Finds paths with unknown names, including paths in branches that are not rendered. Returns the template's `faults`,
 * followed by the new faults. Omits faults that only result from an unknown name.
 */
export function checkPaths(
  paths: readonly NamePath[],
  known: KnownNames,
  { text = '', faults = [] }: { text?: string; faults?: readonly TemplateFault[] } = {},
): TemplateFault[] {
  const spaced: NamePath[] = [];
  const wrong = paths.flatMap((path, index): TemplateFault[] => {
    if (path.start < (spaced.at(-1)?.end ?? 0)) return [];
    const whole = withoutBrackets(path, text, known) ?? withWords(path, paths.slice(index + 1), known);
    if (whole !== undefined) spaced.push(whole);
    const { start, end } = whole ?? path;
    const fault = checkPath(whole ?? path, known) ?? (whole && noBrackets(whole));
    return fault === undefined ? [] : [{ ...fault, start, end }];
  });
  return [...faults.filter(({ start, end }) => !spaced.some((one) => start < one.end && one.start < end)), ...wrong];
}

/** Finds a column name that needs brackets but has none, as in `row.Product (EN)`. */
function withoutBrackets(path: NamePath, text: string, known: KnownNames): NamePath | undefined {
  const root = path.parts[0] ?? '';
  const shape = root === 'row' ? known.row : known.tables?.get(root);
  const columns = typeof shape === 'object' ? (shape.columns ?? []) : [];
  const follows = (column: string) =>
    text.startsWith(`${root}.${column}`, path.start) &&
    !/^[\p{L}\p{N}]/u.test(text.slice(path.start + root.length + 1 + column.length));
  const meant = columns.filter((column) => pathPart(column) !== column && follows(column));
  const column = meant.toSorted((a, b) => b.length - a.length)[0];
  if (column === undefined) return undefined;
  const written = `${root}.${column}`;
  return { ...path, parts: [root, column], written, end: path.start + written.length };
}

function withWords(path: NamePath, next: readonly NamePath[], known: KnownNames): NamePath | undefined {
  let { written, end } = path;
  for (const { parts, start, ...word } of next) {
    const isName = isRoot(parts[0]) || known.tables?.has(parts[0] ?? '') === true;
    if (parts.length > 1 || start !== end + 1 || isName) break;
    written += ` ${word.written}`;
    end = word.end;
  }
  const [root, ...names] = path.parts;
  if (end === path.end || root === undefined || names.length === 0) return undefined;
  const last = `${names.pop()}${written.slice(path.written.length)}`;
  return { ...path, parts: [root, ...names, last], written, end };
}

function noBrackets({ parts, written }: NamePath): Fault {
  const meant = parts.map(pathPart).join('.');
  const message = `\`${written}\` needs brackets`;
  return { code: 'MB1202', message, hint: `write \`${meant}\``, meant };
}

type Fault = Pick<TemplateFault, 'code' | 'message' | 'hint' | 'meant'>;

function checkPath(path: NamePath, known: KnownNames): Fault | undefined {
  const [root = ''] = path.parts;
  const table = known.tables?.get(root);
  // A template may use tables wherever it may use `matrix`.
  const like = table === undefined ? root : 'matrix';
  if (!isRoot(like)) return unknownRoot(path, known);
  if (!known.roots.includes(like)) {
    const message = `\`${root}\` cannot be used in ${known.what}`;
    return { code: 'MB1202', message, hint: `allowed names: ${known.roots.join(', ')}` };
  }
  if (table !== undefined) return typeof table === 'object' ? checkColumn(path, table) : undefined;
  switch (like) {
    case 'vars':
      return checkVar(path, known);
    case 'row':
      return checkRow(path, known);
    case 'matrix':
      return checkAxis(path, known);
    case 'key':
      return checkPlainName(path, known.hasKey, 'add `key:` to the task, or use rows that are strings');
    case 'take':
      return checkPlainName(path, known.hasTakes, 'add `takes:` to the task');
    case 'tasks':
      return checkOutput(path, known);
    default:
      return like satisfies never;
  }
}

function unknownName(
  path: NamePath,
  index: number,
  {
    why,
    what,
    names,
    code = 'MB1203',
  }: { why: string; what: string; names: readonly string[]; code?: 'MB1203' | 'MB1403' },
): Fault {
  const name = path.parts[index] ?? '';
  const prefix = path.parts.slice(0, index).map((part) => `${pathPart(part)}.`);
  return {
    code,
    message: `\`${path.written}\` is not known: ${why} \`${shorten(name)}\``,
    hint: suggestName(name, names, { what, prefix: prefix.join('') }),
    meant: suggestionFor(path, index, names),
  };
}

function checkVar(path: NamePath, known: KnownNames): Fault | undefined {
  let value: Json = known.vars;
  const [, ...names] = path.parts;
  for (const [index, name] of names.entries()) {
    if (value === unknownValue) return undefined;
    const inner = ownValue(value, name);
    if (inner === undefined) {
      const [why, what] = index === 0 ? ['there is no var', 'vars'] : ['it has no', 'it has'];
      return unknownName(path, index + 1, { why, what, names: Object.keys(mapOf(value)) });
    }
    value = inner;
  }
  // A var without a value is checked only during rendering, because a condition may first test whether it has a value.
  return isScalar(value) || value === null || value === unknownValue ? undefined : unprintable(path, value);
}

function unprintable(path: NamePath, value: Json): Fault | undefined {
  return path.printed ? explainUnprintable(value, path.written) : undefined;
}

function checkRow(path: NamePath, { row = 'none' }: KnownNames): Fault | undefined {
  if (row === 'unknown') return undefined;
  if (row === 'none') {
    const message = `\`${path.written}\` is not known: the task has no rows`;
    return { code: 'MB1203', message, hint: 'add `foreach:` with a data file or a list, or write the value itself' };
  }
  if (row.columns === undefined && path.parts[1] !== undefined) {
    const message = `\`${path.written}\` is not known: the rows of ${row.label} are strings or numbers, not maps`;
    return { code: 'MB1203', message, hint: 'the row itself is {{row}}' };
  }
  return checkColumn(path, row);
}

function checkColumn(path: NamePath, { label, columns = [] }: Exclude<RowShape, string>): Fault | undefined {
  const [, column] = path.parts;
  if (column === undefined) return columns.length === 0 ? undefined : unprintable(path, mapWith(columns));
  if (columns.includes(column)) return undefined;
  return unknownName(path, 1, { why: `${label} has no column`, what: 'columns', names: columns });
}

function mapWith(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, null]));
}

function checkAxis(path: NamePath, { axes, axisColumns }: KnownNames): Fault | undefined {
  const [, axis, column] = path.parts;
  if (axes === 'unknown') return undefined;
  if (axes === undefined) {
    const hint = 'add `matrix:` to the task, or write the value itself';
    return { code: 'MB1203', message: `\`${path.written}\` is not known: the task has no matrix`, hint };
  }
  if (axis === undefined) return unprintable(path, mapWith(axes));
  if (!axes.includes(axis)) return unknownName(path, 1, { why: 'the matrix has no axis', what: 'axes', names: axes });
  const names = axisColumns?.get(axis) ?? [];
  if (column === undefined || names.includes(column)) return undefined;
  return unknownName(path, 2, { why: `the values of the axis \`${axis}\` have no`, what: 'they have', names });
}

function checkPlainName(path: NamePath, isKnown: boolean | undefined, needs: string): Fault | undefined {
  const [name, deeper] = path.parts;
  if (deeper === undefined && isKnown === true) return undefined;
  const why = deeper === undefined ? 'the task has none' : `\`${name}\` has no parts`;
  const hint = deeper === undefined ? needs : `write {{${name}}}`;
  return { code: 'MB1203', message: `\`${path.written}\` is not known: ${why}`, hint };
}

function checkOutput(path: NamePath, known: KnownNames): Fault | undefined {
  const [, task, output = '', ...deeper] = path.parts;
  const tasks = known.tasks ?? new Map<string, string | undefined>();
  if (!path.direct) {
    const message = `\`${path.written}\` cannot be passed to a helper or a block: its value is known only after the task has run`;
    return { code: 'MB1202', message, hint: `use it alone: {{${path.written}}}` };
  }
  if (task === undefined) {
    return {
      code: 'MB1203',
      message: '`tasks` needs the name of a task and its output',
      hint: 'write both, as in {{tasks.hero.url}}',
    };
  }
  if (!tasks.has(task)) {
    const names = [...tasks.keys()];
    return unknownName(path, 1, { why: 'there is no task', what: 'tasks', names, code: 'MB1403' });
  }
  const kind = kinds[tasks.get(task) ?? ''];
  if (kind === undefined) return undefined;
  const names = kind.outputs.flatMap((name) => [name, `${name}s`]);
  if (names.includes(output) && deeper.length === 0) {
    if (!path.printed || kind.outputs.includes(output)) return undefined;
    const hint = `use the list alone, as the whole value; inside a text, name one step: {{tasks.${task}.${kind.outputs[0]}}}`;
    return { code: 'MB1204', message: `\`${path.written}\` is a list and cannot be printed into a text`, hint };
  }
  const { parts } = kind;
  if (parts !== undefined && output === parts.name) {
    return {
      code: 'MB1202',
      message: `\`${path.written}\` is known only after the task has run, and so is the number of ${parts.name}`,
      hint: `make one step for each part: write foreach: "{{tasks.${task}.${parts.name}}}" with maxItems, and use {{row.url}}`,
    };
  }
  if (names.length === 0) {
    const message = `\`${path.written}\` is not known: a task of kind ${kind.name} has no output that other tasks can use`;
    return { code: 'MB1203', message, hint: 'if only the order matters, use `needs:`' };
  }
  if (output === '' || names.includes(output)) {
    const why = output === '' ? 'it names no output' : `\`${output}\` has no parts`;
    const hint = `write {{tasks.${task}.${output || kind.outputs[0]}}}`;
    return { code: 'MB1203', message: `\`${path.written}\` is not known: ${why}`, hint };
  }
  return unknownName(path, 2, { why: `a task of kind ${kind.name} has no output`, what: 'outputs', names });
}

function suggestionFor(path: NamePath, index: number, names: readonly string[]): string | undefined {
  const nearest = nearestName(path.parts[index] ?? '', names);
  const isPlain = path.written === path.parts.join('.') && nearest !== undefined && /^[\w-]+$/.test(nearest);
  return isPlain ? path.parts.with(index, nearest).join('.') : undefined;
}

function unknownRoot(path: NamePath, known: KnownNames): Fault {
  const [name = '', ...deeper] = path.parts;
  if (name === 'env' || name === 'process') return environmentName(path);
  const message = `\`${path.written}\` is not known`;
  if (name === 'tables') {
    const hint = 'for the row of this step, omit `tables.`, as in {{copy.headline}}';
    const why = 'only `foreach` and `matrix` can use all rows of a table';
    return { code: 'MB1202', message: `\`${path.written}\` cannot be used here: ${why}`, hint };
  }
  const columnsOf = (shape: RowShape | undefined) => (typeof shape === 'object' ? (shape.columns ?? []) : []);
  const axes = typeof known.axes === 'object' ? known.axes : [];
  const inside: [string, readonly string[]][] = [
    ['row', columnsOf(known.row)],
    ['matrix', axes],
    ['vars', Object.keys(known.vars)],
    ...[...(known.tables ?? [])].map(([table, shape]): [string, readonly string[]] => [table, columnsOf(shape)]),
  ];
  const exact = inside.find(([, names]) => names.includes(name));
  const near = inside.find(([, names]) => nearestName(name, names) !== undefined);
  const root = nearestName(name, [...known.roots, ...(known.tables?.keys() ?? [])]);
  let meant: string[] | undefined;
  if (exact !== undefined) meant = [exact[0], name, ...deeper];
  else if (root !== undefined) meant = [root, ...deeper];
  else if (near !== undefined) meant = [near[0], nearestName(name, near[1]) ?? '', ...deeper];
  const guess = meant === undefined ? '' : `did you mean \`${meant.join('.')}\`? `;
  const isClear = exact !== undefined || root !== undefined;
  return {
    code: 'MB1203',
    message,
    hint: `${guess}Known here: ${namesHere(known, inside)}`,
    meant: isClear && path.written === path.parts.join('.') ? meant?.join('.') : undefined,
  };
}

function namesHere(known: KnownNames, inside: readonly [string, readonly string[]][]): string {
  const usable: { [name in RootName]: boolean } = {
    vars: Object.keys(known.vars).length > 0,
    row: known.row !== undefined && known.row !== 'none',
    matrix: known.axes !== undefined,
    key: known.hasKey === true,
    take: known.hasTakes === true,
    tasks: (known.tasks?.size ?? 0) > 1,
  };
  const listed = known.roots.flatMap((root) => {
    const names = inside.find(([place]) => place === root)?.[1] ?? [];
    return usable[root] ? [names.length === 0 ? root : `${root} (${listNames(names)})`] : [];
  });
  return listed.length === 0 ? 'nothing; declare it under `vars:`' : listed.join(', ');
}

function environmentName(path: NamePath): Fault {
  const last = path.parts.at(-1) ?? '';
  const name = path.parts.length > 1 && /^[A-Za-z_]\w{0,99}$/.test(last) ? last : 'name';
  return {
    code: 'MB1203',
    message: `\`${path.written}\` is not known: templates cannot read the environment`,
    hint: `declare \`${name}\` under \`vars:\`, write {{vars.${name}}}, and set it with MEDIABATCH_VAR_${name} in the environment`,
  };
}

const rootNames: readonly string[] = ['vars', 'row', 'matrix', 'key', 'take', 'tasks'] satisfies RootName[];

function isRoot(name: string | undefined): name is RootName {
  return name !== undefined && rootNames.includes(name);
}
