import { defined, emptyMap, isScalar, type JsonMap, ownValue, shorten, unknownValue } from '../../ground/values.ts';
import { type Table, tablePath } from '../../manifest/manifest.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import { suggestName } from '../../manifest/suggest.ts';
import type { Scope } from '../../manifest/template/render-template.ts';
import type { NamePath } from '../../manifest/template/template.ts';
import { checkRowSchema } from '../check/row-schema.ts';
import type { Expansion } from '../expansion.ts';
import { type Draft, type ReadTable, withTrail } from './draft.ts';
import { readFileRows } from './task-rows.ts';

export function readTables(expansion: Expansion): void {
  for (const table of expansion.manifest.tables) {
    const { name, file, schema } = table;
    const path = tablePath(name, 'file');
    const rows = file === undefined ? 'unknown' : readFileRows(file, { ...table, path }, expansion);
    if (file !== undefined && schema !== undefined && rows !== 'unknown') {
      checkRowSchema({ path: schema, data: file, at: tablePath(name, 'schema') }, rows, expansion);
    }
    const byValues = rows === 'unknown' || table.on.length === 0 ? undefined : indexRows(table, rows, expansion);
    expansion.tables.set(name, { table, rows, missed: new Set(), ...defined({ byValues }) });
  }
}

function indexRows(table: Table, rows: Rows, expansion: Expansion): Map<string, Row> | undefined {
  const { places } = expansion.manifest;
  const columns = rows.columns ?? [];
  let isSound = true;
  for (const [index, { column, value }] of table.on.entries()) {
    if (columns.includes(column)) continue;
    const message = `${rows.label} has no column \`${shorten(column)}\`, on which table \`${table.name}\` is joined`;
    const hint = suggestName(column, columns, { what: 'columns' });
    const at = tablePath(table.name, 'on', value === undefined ? index : column);
    const place = value === undefined ? places.value(at) : places.key(at);
    expansion.reportError({ code: 'MB1203', message, hint, place });
    isSound = false;
  }
  if (!isSound) return undefined;
  const byValues = new Map<string, Row>();
  const tablePlace = places.key(tablePath(table.name));
  for (const row of rows.rows) {
    const values = table.on.map(({ column }) => ownValue(row.value, column));
    const odd = values.findIndex((value) => !isScalar(value));
    if (odd !== -1) {
      isSound = false;
      if (values[odd] === unknownValue) continue;
      const message = `${row.label} has no text or number in \`${table.on[odd]?.column}\`, on which table \`${table.name}\` is joined`;
      const hint = 'fill the cell, or remove the row';
      expansion.reportError({ code: 'MB1307', message, hint, place: row.place() });
      continue;
    }
    const id = idOf(values.map(String));
    const first = byValues.get(id);
    byValues.set(id, first ?? row);
    if (first === undefined) continue;
    expansion.reportError({
      code: 'MB1307',
      message: `two rows of table \`${table.name}\` match ${nameValues(table, values.map(String))}: ${first.label} and ${row.label}`,
      hint: 'remove one of the rows, or join the table on one more column',
      place: tablePlace,
      related: [first, row].map(({ label, place }) => ({ message: label, place: place() })),
    });
  }
  return isSound ? byValues : undefined;
}

function namesOf(draft: Draft, vars: JsonMap): JsonMap {
  const names = emptyMap();
  names.vars = vars;
  if (draft.row !== undefined) names.row = draft.row.value;
  if (draft.task.matrix !== undefined) names.matrix = draft.cell;
  if (draft.key !== undefined) names.key = draft.key;
  if (draft.task.takes !== undefined) names.take = draft.take ?? 1;
  return names;
}

export function scopeOf(draft: Draft, expansion: Expansion): Scope {
  return {
    names: namesOf(draft, expansion.vars),
    rowAtHand: (path) => findCurrentRow(path, draft, expansion),
    rowLabel: draft.row?.label,
  };
}

interface CurrentRow {
  value: Row['value'];
  parts: readonly string[];
  label?: string;
  place?: Row['place'];
}

/**
 * Finds the row at the start of a path: the row of a joined table, or an axis value with fields. Returns `undefined` if
 * the path starts with neither.
 */
export function findCurrentRow({ parts }: NamePath, draft: Draft, expansion: Expansion): CurrentRow | undefined {
  const [root = '', axis = '', ...fields] = parts;
  if (root === 'matrix' && fields.length > 0) {
    const row = expansion.cells
      .get(draft.task.id)
      ?.rows.get(axis)
      ?.get(draft.matrix[axis] ?? '');
    return row && { ...row, parts: fields };
  }
  const table = expansion.tables.get(root);
  if (table === undefined) return undefined;
  const row = findJoined(table, draft, expansion);
  if (row === undefined) return { value: unknownValue, parts: [] };
  const collected = expansion.facts.rows?.get(draft.address);
  if (collected !== undefined) collected.tables = { ...collected.tables, [root]: row.value };
  return { ...row, parts: parts.slice(1) };
}

function findJoined(read: ReadTable, draft: Draft, expansion: Expansion): Row | undefined {
  const { table, rows, byValues, missed } = read;
  if (byValues === undefined) return undefined;
  const values = table.on.map((on) => valueFor(on, table, { draft, expansion }));
  if (!values.every((value) => value !== undefined)) return undefined;
  const id = idOf(values);
  const row = byValues.get(id);
  if (row !== undefined || missed.has(id)) return row;
  missed.add(id);
  const message = `table \`${table.name}\` has no row for ${nameValues(table, values)}`;
  const place = expansion.manifest.places.key(tablePath(table.name));
  const label = rows === 'unknown' ? table.name : rows.label;
  const alike = missed.size > mostSearched ? undefined : findSimilar(read, values);
  const hint = alike === undefined ? `add it to ${label}` : `${label} has a row for ${alike}: write both values alike`;
  expansion.report(withTrail({ code: 'MB1307', severity: 'error', message, hint, place }, draft));
  return undefined;
}

const mostSearched = 10;

function findSimilar({ table, byValues }: ReadTable, wanted: readonly string[]): string | undefined {
  const plain = (values: readonly string[]) =>
    idOf(values.map((value) => value.normalize('NFC').toLowerCase().replaceAll(/\s/g, '')));
  const known = [...(byValues?.keys() ?? [])].map((id) => JSON.parse(id) as string[]);
  const alike = known.find((values) => plain(values) === plain(wanted));
  return alike && nameValues(table, alike);
}

function valueFor(
  { column, value }: Table['on'][number],
  { name }: Table,
  { draft, expansion }: { draft: Draft; expansion: Expansion },
): string | undefined {
  const { vars, manifest } = expansion;
  const path = tablePath(name, 'on', column);
  const scopeAt = () => ({ names: namesOf(draft, vars), rowLabel: draft.row?.label });
  const rendered =
    value === undefined
      ? (draft.matrix[column] ?? ownValue(draft.row?.value, column))
      : expansion.render(value, path, scopeAt, (found) => withTrail(found, draft));
  if (isScalar(rendered)) return String(rendered);
  const rows = expansion.rowsOf(draft.task.id);
  // If no row has the column, `check-task.ts` reports the column once for the task.
  const isReported = rendered === undefined && (typeof rows === 'string' || rows.columns?.includes(column) !== true);
  if (rendered === unknownValue || isReported) return undefined;
  const message = `the value of \`${column}\`, on which table \`${name}\` is joined, is neither a string nor a number`;
  const hint = 'name a column or an axis, as in "{{row.sku}}"';
  const place = value === undefined ? (draft.row?.place() ?? manifest.places.value(path)) : manifest.places.value(path);
  expansion.report(withTrail({ code: 'MB1307', severity: 'error', message, hint, place }, draft));
  return undefined;
}

function nameValues({ on }: Table, values: readonly string[]): string {
  return on.map(({ column }, index) => `${column} ${shorten(values[index] ?? '', 60) || '(empty)'}`).join(', ');
}

function idOf(values: readonly string[]): string {
  return JSON.stringify(values);
}
