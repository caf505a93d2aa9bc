import type { Json } from '../../ground/json.ts';
import { isMap, isScalar, type JsonMap, ownValue, shorten, unknownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { listNames, nearestName, pathPart, suggestName } from '../../manifest/suggest.ts';
import { explainUnprintable } from '../../manifest/template/render-template.ts';
import type { NamePath, TemplateFault } from '../../manifest/template/template.ts';

export type RowShape = 'none' | 'unknown' | { label: string; columns?: readonly string[] | undefined };

export type RootName = 'vars' | 'row' | 'matrix' | 'key' | 'take' | 'tasks';

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
 * Finds all paths that name nothing, in all branches, even those that are not rendered. Returns them after the `faults`
 * of the template that are no consequence of one.
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

/** Finds a column that stands in the text as it is, such as `row.Product (EN)`, which Handlebars reads as a call. */
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

/** Joins a path with the unknown words after it, because a name with spaces was meant. */
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
  const [root = '', first] = path.parts;
  const table = known.tables?.get(root);
  if (table !== undefined) return checkTable(path, table, known);
  if (!isRoot(root)) return unknownRoot(path, known);
  if (root === 'tasks' && !known.roots.includes('tasks')) {
    return {
      code: 'MB1202',
      message: `\`${path.written}\` cannot stand in ${known.what}: outputs of tasks are known only when they have run`,
      hint: 'outputs of tasks can be used in `with`',
    };
  }
  if (!known.roots.includes(root)) {
    return {
      code: 'MB1202',
      message: `\`${root}\` cannot be used in ${known.what}`,
      hint: `it can use ${known.roots.join(', ')}`,
    };
  }
  switch (root) {
    case 'vars':
      return first === undefined ? unprintable(path, known.vars) : checkVar(path, known);
    case 'row':
      return checkRow(path, known);
    case 'matrix':
      return checkAxis(path, known);
    case 'key':
      return known.hasKey === true && first === undefined
        ? undefined
        : noPlainName(path, first, 'it needs `key:`, or rows that are texts');
    case 'take':
      return known.hasTakes === true && first === undefined ? undefined : noPlainName(path, first, 'it needs `takes:`');
    case 'tasks':
      return checkOutput(path, known);
    default:
      return root satisfies never;
  }
}

function checkVar(path: NamePath, known: KnownNames): Fault | undefined {
  let value = known.vars[path.parts[1] ?? ''];
  const [, name = '', ...deeper] = path.parts;
  if (value === undefined) {
    const hint = suggestName(name, Object.keys(known.vars), { what: 'vars', prefix: 'vars.' });
    return {
      code: 'MB1203',
      message: `\`${path.written}\` is not known: there is no var \`${shorten(name)}\``,
      hint,
      ...meantFor(path, 1, Object.keys(known.vars)),
    };
  }
  for (const part of deeper) {
    if (value === unknownValue) return undefined;
    const inner = ownValue(value, part);
    if (inner === undefined) {
      const keys = isMap(value) ? Object.keys(value) : [];
      const hint = isMap(value) ? suggestName(part, keys, { what: 'it has' }) : 'it is not a map';
      return {
        code: 'MB1203',
        message: `\`${path.written}\` is not known: there is no \`${shorten(part)}\` in it`,
        hint,
      };
    }
    value = inner;
  }
  // A var without a value is checked when it is rendered, because a condition may test it first.
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
    const message = `\`${path.written}\` is not known: the rows of ${row.label} are texts or numbers, not maps`;
    return { code: 'MB1203', message, hint: 'the row itself is {{row}}' };
  }
  return checkColumn(path, row.label, row.columns ?? []);
}

function checkTable(path: NamePath, table: RowShape, known: KnownNames): Fault | undefined {
  if (!known.roots.includes('matrix')) {
    const message = `\`${path.written}\` cannot be used in ${known.what}: it has no row there`;
    return { code: 'MB1202', message, hint: `it can use ${known.roots.join(', ')}` };
  }
  return typeof table === 'object' ? checkColumn(path, table.label, table.columns ?? []) : undefined;
}

function checkColumn(path: NamePath, label: string, columns: readonly string[]): Fault | undefined {
  const [root = '', column] = path.parts;
  if (column === undefined) {
    const [first] = columns;
    return first === undefined ? undefined : unprintable(path, Object.fromEntries([[first, null]]));
  }
  if (columns.includes(column)) return undefined;
  const hint = suggestName(column, columns, { what: 'columns', prefix: `${root}.` });
  return {
    code: 'MB1203',
    message: `\`${path.written}\` is not known: ${label} has no column \`${shorten(column)}\``,
    hint,
    ...meantFor(path, 1, columns),
  };
}

function checkAxis(path: NamePath, known: KnownNames): Fault | undefined {
  const { axes } = known;
  const [, axis, ...deeper] = path.parts;
  if (axes === 'unknown') return undefined;
  if (axes === undefined) {
    const hint = 'add `matrix:` to the task, or write the value itself';
    return { code: 'MB1203', message: `\`${path.written}\` is not known: the task has no matrix`, hint };
  }
  if (axis === undefined) return unprintable(path, Object.fromEntries(axes.map((name) => [name, null])));
  if (axes.includes(axis) && deeper.length === 0) return undefined;
  const columns = known.axisColumns?.get(axis);
  if (columns !== undefined) return checkAxisColumn(path, columns);
  const hint = suggestName(axis, axes, { what: 'axes', prefix: 'matrix.' });
  return {
    code: 'MB1203',
    message: `\`${path.written}\` is not known: the matrix has no axis \`${shorten(path.parts.slice(1).join('.'))}\``,
    hint,
    ...meantFor(path, 1, axes),
  };
}

function checkAxisColumn(path: NamePath, columns: readonly string[]): Fault | undefined {
  const [, axis, column = ''] = path.parts;
  if (columns.includes(column)) return undefined;
  return {
    code: 'MB1203',
    message: `\`${path.written}\` is not known: the values of the axis \`${axis}\` have no \`${shorten(column)}\``,
    hint: suggestName(column, columns, { what: 'they have', prefix: `matrix.${axis}.` }),
    ...meantFor(path, 2, columns),
  };
}

function noPlainName(path: NamePath, deeper: string | undefined, needs: string): Fault {
  if (deeper !== undefined) {
    const name = path.parts[0];
    return {
      code: 'MB1203',
      message: `\`${path.written}\` is not known: \`${name}\` has no parts`,
      hint: `write {{${name}}}`,
    };
  }
  return { code: 'MB1203', message: `\`${path.written}\` is not known in this task`, hint: needs };
}

function checkOutput(path: NamePath, known: KnownNames): Fault | undefined {
  const [, task, output, ...deeper] = path.parts;
  const tasks = known.tasks ?? new Map<string, string | undefined>();
  if (!path.direct) {
    return {
      code: 'MB1202',
      message: `\`${path.written}\` cannot be given to a helper or a block: it is known only when the task has run`,
      hint: `use it alone: {{${path.written}}}`,
    };
  }
  if (task === undefined) {
    return { code: 'MB1203', message: '`tasks` alone names no output', hint: 'write {{tasks.name.url}}' };
  }
  if (!tasks.has(task)) {
    const hint = suggestName(task, [...tasks.keys()], { what: 'tasks', prefix: 'tasks.' });
    return {
      code: 'MB1403',
      message: `\`${path.written}\` names a task that does not exist: \`${shorten(task)}\``,
      hint,
      ...meantFor(path, 1, [...tasks.keys()]),
    };
  }
  const kindName = tasks.get(task);
  const kind = kindName === undefined ? undefined : kinds[kindName];
  if (kind === undefined) return undefined;
  const names = kind.outputs.flatMap((name) => [name, `${name}s`]);
  if (output !== undefined && names.includes(output) && deeper.length === 0) {
    if (!path.printed || kind.outputs.includes(output)) return undefined;
    const hint = `let it stand alone, as the whole value; in a text name one step: {{tasks.${task}.${kind.outputs[0]}}}`;
    return { code: 'MB1204', message: `\`${path.written}\` is a list and cannot be printed into a text`, hint };
  }
  const { parts } = kind;
  if (parts !== undefined && output === parts.name) {
    return {
      code: 'MB1202',
      message: `\`${path.written}\` is known only after the task has run, and so is the number of its items`,
      hint: `go through them with foreach: "{{tasks.${task}.${parts.name}}}" and maxItems, and use {{row.url}}`,
    };
  }
  if (names.length === 0) {
    const message = `\`${path.written}\` is not known: a task of kind ${kind.name} has no output that others can use`;
    return { code: 'MB1203', message, hint: 'use `needs:` where only the order matters' };
  }
  const listed = names.map((name) => `tasks.${task}.${name}`).join(', ');
  if (output === undefined) {
    return { code: 'MB1203', message: `\`${path.written}\` names no output`, hint: `write one of ${listed}` };
  }
  const nearest = nearestName(output, names);
  const guess = nearest === undefined ? '' : `did you mean \`tasks.${task}.${nearest}\`? `;
  const message = `\`${path.written}\` is not known: a task of kind ${kind.name} has no output \`${shorten([output, ...deeper].join('.'))}\``;
  return { code: 'MB1203', message, hint: `${guess}Outputs: ${listed}`, ...meantFor(path, 2, names) };
}

/** Suggests the most similar name for the one at `index` of a path. Names that need brackets are not suggested. */
function meantFor(path: NamePath, index: number, names: readonly string[]): { meant?: string } {
  const nearest = nearestName(path.parts[index] ?? '', names);
  const isPlain = path.written === path.parts.join('.') && nearest !== undefined && /^[\w-]+$/.test(nearest);
  return isPlain ? { meant: path.parts.with(index, nearest).join('.') } : {};
}

/** Explains a first name that is unknown: a column, a var, an axis or a task without its root, or a typo. */
function unknownRoot(path: NamePath, known: KnownNames): Fault {
  const name = path.parts[0] ?? '';
  if (name === 'env' || name === 'process') return environmentName(path);
  if (name === 'tables') {
    const message = `\`${path.written}\` cannot be used here: all rows of a table can only stand in \`foreach\` and \`matrix\``;
    return {
      code: 'MB1202',
      message,
      hint: 'for the row of a step write the name of the table alone, as in {{copy.headline}}',
    };
  }
  const columns = typeof known.row === 'object' ? (known.row.columns ?? []) : [];
  const axes = Array.isArray(known.axes) ? (known.axes as readonly string[]) : [];
  const places: [string, readonly string[]][] = [
    ['row', columns],
    ['matrix', axes],
    ['vars', Object.keys(known.vars)],
    ...[...(known.tables ?? [])].map(([table, shape]): [string, readonly string[]] => [
      table,
      typeof shape === 'object' ? (shape.columns ?? []) : [],
    ]),
  ];
  const exact = places.find(([, names]) => names.includes(name));
  const near = exact ?? places.find(([, names]) => nearestName(name, names) !== undefined);
  const root = nearestName(name, [...known.roots, ...(known.tables?.keys() ?? [])]);
  let guess = '';
  if (exact !== undefined) guess = `did you mean \`${exact[0]}.${path.parts.join('.')}\`? `;
  else if (root !== undefined) guess = `did you mean \`${[root, ...path.parts.slice(1)].join('.')}\`? `;
  else if (near !== undefined) guess = `did you mean \`${near[0]}.${nearestName(name, near[1])}\`? `;
  const usable: { [name in RootName]: boolean } = {
    vars: Object.keys(known.vars).length > 0,
    row: known.row !== undefined && known.row !== 'none',
    matrix: known.axes !== undefined,
    key: known.hasKey === true,
    take: known.hasTakes === true,
    tasks: (known.tasks?.size ?? 0) > 1,
  };
  const parts = known.roots
    .filter((one) => usable[one])
    .map((one) => {
      const names = places.find(([place]) => place === one)?.[1] ?? [];
      return names.length === 0 ? one : `${one} (${listNames(names)})`;
    });
  const message = `\`${path.written}\` is not known`;
  return {
    code: 'MB1203',
    message,
    hint: `${guess}Known here: ${parts.length === 0 ? 'nothing; declare it under `vars:`' : parts.join(', ')}`,
    ...(exact === undefined
      ? root !== undefined && meantFor(path, 0, [root])
      : { meant: `${exact[0]}.${path.written}` }),
  };
}

/** Explains a reference to the environment, which templates cannot read: environment variables only set vars. */
function environmentName(path: NamePath): Fault {
  const last = path.parts.at(-1) ?? '';
  const name = path.parts.length > 1 && /^[A-Za-z_]\w{0,99}$/.test(last) ? last : 'name';
  return {
    code: 'MB1203',
    message: `\`${path.written}\` is not known: templates cannot read the environment`,
    hint: `declare \`${name}\` under \`vars:\`, write {{vars.${name}}}, and set it with MEDIABATCH_VAR_${name} in the environment`,
  };
}

function isRoot(name: string | undefined): name is RootName {
  return (
    name === 'vars' || name === 'row' || name === 'matrix' || name === 'key' || name === 'take' || name === 'tasks'
  );
}
