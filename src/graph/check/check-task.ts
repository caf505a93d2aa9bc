import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { emptyMap, mapOf, mustGet, type Path, shorten } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { type Manifest, type Table, type Task, tablePath, taskPath } from '../../manifest/manifest.ts';
import type { Row } from '../../manifest/rows/rows.ts';
import { pathPart, suggestName } from '../../manifest/suggest.ts';
import { type Cells, hasKey, type TaskRows } from '../expand/draft.ts';
import type { Expansion } from '../expansion.ts';
import { findTemplates, type Site } from '../render/templates.ts';
import { checkPaths, type KnownNames } from './check-paths.ts';
import { checkRequest, type RequestFault } from './check-request.ts';

const stepRoots: KnownNames['roots'] = ['vars', 'row', 'matrix', 'key', 'take'];

export function checkTask(task: Task, expansion: Expansion): void {
  const { id } = task;
  const names = knownNames(task, expansion);
  const joining: Site[] = [];
  const check = (value: Json | undefined, path: Path, roots: KnownNames['roots'], what: string) => {
    const sites = findTemplates(value ?? null, path);
    checkTemplates(sites, { ...names, roots, what: `${what} of task \`${id}\`` }, expansion);
    if (roots.includes('matrix')) joining.push(...sites);
  };
  for (const field of task.with) check(field.value, field.path, [...stepRoots, 'tasks'], '`with`');
  check(task.key, taskPath(id, 'key'), ['vars', 'row'], '`key`');
  check(task.save, taskPath(id, 'save'), stepRoots, '`save`');
  check(task.gate?.title, taskPath(id, 'gate', 'title'), stepRoots, '`gate.title`');
  check(task.expect?.ratio, taskPath(id, 'expect', 'ratio'), stepRoots, '`expect`');
  for (const name of ['rowsWhen', 'when'] as const) check(task[name], taskPath(id, name), stepRoots, '`when`');
  check(task.description, taskPath(id, 'description'), ['vars'], '`description`');
  for (const { task: from, picks } of task.from) {
    for (const pick of picks) check(pick.value, taskPath(id, 'from', from, pick.name), stepRoots, '`from`');
  }
  checkJoins(task, joining, { names, expansion });
  const kind = task.kind === undefined ? undefined : kinds[task.kind];
  if (kind === undefined) return;
  const request = emptyMap();
  for (const { field, value, path } of task.with) request[field] = expansion.render(value, path);
  for (const fault of checkRequest(kind, request, expansion.facts)) {
    expansion.report(placeRequestFault(fault, task, expansion.manifest));
  }
}

export function checkDefaults(expansion: Expansion): void {
  const { manifest } = expansion;
  for (const [name, fields] of Object.entries(manifest.defaults)) {
    const kind = kinds[name];
    if (kind === undefined) continue;
    const request = emptyMap();
    for (const [field, value] of Object.entries(fields)) request[field] = expansion.render(value, []);
    for (const fault of checkRequest(kind, request, expansion.facts)) {
      if (fault.code === 'MB1502') continue;
      expansion.report(placeAt(['defaults', name, ...fault.at], fault, manifest));
    }
  }
}

export function placeRequestFault(fault: RequestFault, task: Task, manifest: Manifest): Diagnostic {
  const { code, severity = 'error', message, hint, at } = fault;
  const [name, ...deeper] = at;
  const field = task.with.find((one) => one.field === name);
  if (field !== undefined) return placeAt([...field.path, ...deeper], fault, manifest);
  const place = manifest.places.key(taskPath(task.id, 'with'));
  return { code, severity, message: `${message} in task \`${task.id}\``, hint, place };
}

function placeAt(path: Path, fault: RequestFault, { places }: Manifest): Diagnostic {
  const { code, severity = 'error', message, hint, meant } = fault;
  const place = code === 'MB1501' ? places.key(path) : places.value(path);
  const fix = meant === undefined ? undefined : { place, text: meant };
  return { code, severity, message, hint, place, fix };
}

export function checkTemplates(sites: readonly Site[], known: KnownNames, expansion: Expansion): void {
  for (const site of sites) {
    const { faults, paths } = expansion.templates.parse(site.text);
    const found = checkPaths(paths, known, { text: site.text, faults });
    if (found.length > 0) expansion.templates.markUnsound(site.path);
    for (const fault of found) expansion.reportFault(fault, site);
  }
}

function knownNames(task: Task, expansion: Expansion): Omit<KnownNames, 'roots' | 'what'> {
  const rows = expansion.rowsOf(task.id);
  const cells = expansion.cells.get(task.id);
  const axes = task.matrix === undefined ? undefined : (cells?.axes ?? 'unknown');
  return {
    vars: expansion.vars,
    row: shapeOf(rows),
    axes,
    axisColumns: columnsOfAxes(cells),
    tables: new Map([...expansion.tables].map(([name, { rows }]) => [name, shapeOf(rows)])),
    hasKey: rows === 'unknown' || hasKey(task, rows),
    hasTakes: task.takes !== undefined,
    tasks: expansion.kinds,
  };
}

function columnsOfAxes(cells: Cells | undefined): ReadonlyMap<string, readonly string[]> {
  const axes = [...(cells?.rows ?? [])].filter(([, rows]) => rows.size > 0);
  return new Map(axes.map(([name, rows]) => [name, [...new Set([...rows.values()].flatMap(namesIn))]]));
}

function namesIn({ value }: Row): string[] {
  return Object.keys(mapOf(value));
}

function shapeOf(rows: TaskRows): NonNullable<KnownNames['row']> {
  if (typeof rows !== 'object') return rows;
  if (rows.rows.length === 0 && rows.columns === undefined) return 'unknown';
  return { label: rows.label, columns: rows.columns };
}

interface Use {
  site: Site;
  start: number;
  end: number;
}

function checkJoins(
  task: Task,
  sites: readonly Site[],
  { names, expansion }: { names: Omit<KnownNames, 'roots' | 'what'>; expansion: Expansion },
): void {
  for (const [name, { site, start, end }] of usesOf(sites, expansion)) {
    const { table, byValues } = mustGet(expansion.tables, name);
    // If the table cannot be read or joined, this was already reported.
    const isWrong = table.on.length > 0 ? byValues === undefined : table.file === undefined;
    const wrong = isWrong ? undefined : explainJoin(table, task, names);
    if (wrong !== undefined) expansion.reportFault({ code: 'MB1203', ...wrong, start, end }, site);
    const what = `\`on\` of table \`${name}\`, which task \`${task.id}\` uses`;
    const known = { ...names, tables: new Map(), roots: stepRoots, what };
    for (const { column, value } of table.on) {
      checkTemplates(findTemplates(value ?? null, tablePath(name, 'on', column)), known, expansion);
    }
  }
}

function usesOf(sites: readonly Site[], { templates, tables }: Expansion): Map<string, Use> {
  const uses = new Map<string, Use>();
  for (const site of sites) {
    for (const { parts, start, end } of templates.parse(site.text).paths) {
      const [root = ''] = parts;
      if (tables.has(root) && !uses.has(root)) uses.set(root, { site, start, end });
    }
  }
  return uses;
}

function explainJoin(
  table: Table,
  task: Task,
  { row = 'none', axes = [] }: Pick<KnownNames, 'row' | 'axes'>,
): { message: string; hint: string } | undefined {
  if (table.on.length === 0) {
    const message = `table \`${table.name}\` has no \`on\`, so no step has a row of the table`;
    const hint = `name the columns to join on, for example ${table.name}: { file: ${table.file}, on: [sku] }`;
    return { message, hint };
  }
  if (row === 'unknown' || axes === 'unknown') return undefined;
  const columns = row === 'none' ? [] : (row.columns ?? []);
  for (const { column, value } of table.on) {
    if (value !== undefined) continue;
    const [isColumn, isAxis] = [columns.includes(column), axes.includes(column)];
    if (isColumn !== isAxis) continue;
    const joined = `table \`${table.name}\` is joined on \`${shorten(column)}\``;
    if (isColumn) {
      const message = `${joined}, which is both a column and an axis of task \`${task.id}\``;
      const name = pathPart(column);
      return { message, hint: `set its value under \`on\`: "{{row.${name}}}" or "{{matrix.${name}}}"` };
    }
    const message = `${joined}, and task \`${task.id}\` has neither a column nor an axis of that name`;
    const hint = suggestName(column, [...axes, ...columns], { what: 'under `on`, set its value to one of' });
    return { message, hint };
  }
  return undefined;
}
