import type { Diagnostic } from '../../ground/diagnostic.ts';
import { describeValue, emptyMap, isMap, isScalar, shorten, unknownValue } from '../../ground/values.ts';
import { type Task, taskPath } from '../../manifest/manifest.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import { pathPart } from '../../manifest/suggest.ts';
import { isTemplate, readTruth } from '../../manifest/template/template.ts';
import { addressPart, forbiddenIn, maxKeyLength, stepAddress } from '../address.ts';
import type { Expansion } from '../expansion.ts';
import { columnIn, placeFault, renderValue } from '../render/templates.ts';
import { type Cell, type Draft, type ExpandedTask, type TaskRows, trailOf, withTrail } from './draft.ts';
import { indexSteps } from './join.ts';
import { scopeOf } from './tables.ts';

export function expandTask(task: Task, rows: TaskRows, expansion: Expansion): ExpandedTask {
  const cells = expansion.cells.get(task.id);
  if (cells === undefined) {
    return { task, axes: [], hasKey: false, drafts: [], leftOut: [], complete: false, find: indexSteps([]) };
  }
  const { axes } = cells;
  const keyed = rows === 'unknown' ? [] : keyRows(task, rows, expansion);
  const takes = task.takes !== undefined && task.takes > 1 ? [...Array(task.takes).keys()] : [undefined];
  // All steps of a cell share its values, because most campaigns have few cells and many rows.
  const columns = cells.cells.map((cell) => {
    const matrix = pickAxes(cell, axes);
    return { cell, matrix, values: Object.values(matrix).map(addressPart) };
  });
  const drafts: Draft[] = [];
  const leftOut: Draft[] = [];
  for (const { row, key } of keyed) {
    for (const { cell, matrix, values } of columns) {
      for (const index of takes) {
        const take = index === undefined ? undefined : index + 1;
        const address = stepAddress(task.id, { key, values, take });
        const draft: Draft = { address, task, key, matrix, cell, take, row, part: row?.part };
        (isWanted(draft, expansion) ? drafts : leftOut).push(draft);
      }
    }
  }
  const complete = rows !== 'unknown' && keyed.length === (rows === 'none' ? 1 : rows.rows.length);
  return { task, axes, hasKey: hasKey(task, rows), drafts, leftOut, complete, find: indexSteps(drafts) };
}

/** Returns the values of these axes as strings, in their order. */
export function pickAxes(cell: Cell, axes: readonly string[]): { [axis: string]: string } {
  const matrix = Object.create(null) as { [axis: string]: string };
  for (const axis of axes) matrix[axis] = String(cell[axis]);
  return matrix;
}

/** Returns whether the steps of a task have row keys. */
export function hasKey(task: Task, rows: TaskRows): boolean {
  if (task.key !== undefined || task.keyBroken === true) return true;
  if (task.rows.from === 'parts' || task.rows.from === 'files') return true;
  return typeof rows === 'object' && rows.rows.length > 0 && rows.rows.every((row) => isScalar(row.value));
}

/** Evaluates the conditions of a step. The condition of the rows comes first. */
function isWanted(draft: Draft, expansion: Expansion): boolean {
  const { rowsWhen = true, when = true } = draft.task;
  return holdsFor(draft, 'rowsWhen', rowsWhen, expansion) && holdsFor(draft, 'when', when, expansion);
}

function holdsFor(draft: Draft, name: string, condition: string | boolean, expansion: Expansion): boolean {
  if (typeof condition === 'boolean') return condition;
  const { manifest, templates } = expansion;
  const path = taskPath(draft.task.id, name);
  const value = renderValue(condition, path, {
    templates,
    scopeAt: () => scopeOf(draft, expansion),
    onFault: (fault, site) => expansion.report(withTrail(placeFault(fault, site, manifest.places), draft)),
  });
  const truth = value === unknownValue ? false : readTruth(value);
  if (truth !== undefined) return truth;
  const message = `\`when\` is ${describeValue(value)}, and must be true or false`;
  const hint = 'compare it, as in "{{eq row.state \'live\'}}" or, for a filled cell, "{{ne row.date \'\'}}"';
  const place = manifest.places.value(path);
  expansion.report(withTrail({ code: 'MB1409', severity: 'error', message, hint, place }, draft));
  return false;
}

interface KeyedRow {
  row?: Row | undefined;
  key?: string | undefined;
}

function keyRows(task: Task, rows: 'none' | Rows, expansion: Expansion): KeyedRow[] {
  if (task.keyBroken === true) return [];
  if (task.key === undefined && rows === 'none') return [{}];
  const { places } = expansion.manifest;
  const place = places.value(taskPath(task.id, task.key === undefined ? 'foreach' : 'key'));
  const list = rows === 'none' ? [undefined] : rows.rows;
  if (rows !== 'none' && task.key === undefined && rows.rows.some((row) => isMap(row.value) && row.key === undefined)) {
    const message = `task \`${task.id}\` has rows, but no \`key\` that names them`;
    const hint = `add \`key: "{{row.${keyColumn(rows)}}}"\`: something unique that stays the same when rows are added or sorted`;
    expansion.reportError({ code: 'MB1401', message, hint, place });
    return [];
  }
  const known = new Map<string, Row | undefined>();
  const hint =
    task.key === undefined || isTemplate(task.key) || rows === 'none'
      ? 'a key is unique in its task: remove one of the rows, or build the key from more columns'
      : `use a column of the row, as in "{{row.${keyColumn(rows)}}}"`;
  for (const row of list) {
    const key = renderKey(task, row, expansion);
    if (key === undefined) continue;
    const message = checkKey(key);
    const first = known.get(key);
    if (message !== undefined) {
      const where = whereIs(task, row, columnIn(task.key ?? '', expansion.templates));
      expansion.reportError({ code: 'MB1401', message, hint: hintForKey(key, task, expansion), place, ...where });
    } else if (!known.has(key)) {
      known.set(key, row);
    } else {
      expansion.reportError({
        code: 'MB1402',
        message: `two rows have the key \`${shorten(key)}\`: ${first?.label} and ${row?.label}`,
        hint,
        place: row?.place() ?? place,
        related: [
          ...(first === undefined ? [] : [{ message: 'the first one', place: first.place() }]),
          { message: 'the key', place },
        ],
        trail: whereIs(task, row).trail,
      });
    }
  }
  return [...known].map(([key, row]) => ({ key, row }));
}

function hintForKey(key: string, task: Task, { templates }: Expansion): string {
  if (task.key === undefined) return 'add `key: "{{slug row}}"`';
  const helper = checkKey(key.trim()) === undefined ? 'trim' : 'slug';
  const { paths } = templates.parse(task.key);
  const { written = 'row.name' } = paths.find(({ parts }) => parts[0] === 'row') ?? paths[0] ?? {};
  return `use another value, or {{${helper} …}}, as in "{{${helper} ${written}}}"`;
}

/** Returns the row of a wrong key, for messages. */
function whereIs(task: Task, row: Row | undefined, column?: string): Pick<Diagnostic, 'related'> & { trail: string[] } {
  const trail = trailOf({ task: task.id, row: row?.label });
  return row === undefined ? { trail } : { trail, related: [{ message: row.label, place: row.place(column) }] };
}

function renderKey(task: Task, row: Row | undefined, expansion: Expansion): string | undefined {
  if (task.key === undefined) return row?.key ?? (isScalar(row?.value) ? String(row.value) : undefined);
  const { places } = expansion.manifest;
  const path = taskPath(task.id, 'key');
  const names = emptyMap();
  names.vars = expansion.vars;
  if (row !== undefined) names.row = row.value;
  const value = renderValue(task.key, path, {
    templates: expansion.templates,
    scopeAt: () => ({ names, rowLabel: row?.label }),
    onFault: (fault, site) => expansion.report({ ...placeFault(fault, site, places), ...whereIs(task, row) }),
  });
  if (value === unknownValue) return undefined;
  if (isScalar(value)) return String(value);
  const message = `the key of task \`${task.id}\` is ${describeValue(value)}`;
  const hint = 'a key is a text or a number';
  expansion.reportError({ code: 'MB1401', message, hint, place: places.value(path), ...whereIs(task, row) });
  return undefined;
}

function checkKey(key: string): string | undefined {
  if (key === '') return 'the key is empty';
  const { length } = [...key];
  if (length > maxKeyLength) return `the key has ${length} characters; at most ${maxKeyLength} are allowed`;
  const odd = forbiddenIn(key);
  return odd === undefined ? undefined : `the key \`${shorten(key)}\` has ${nameCharacter(odd)} in it`;
}

function nameCharacter(character: string): string {
  if (/\s/.test(character)) return 'white space';
  if (/\p{C}/u.test(character))
    return `the invisible character U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return `the character ${character}`;
}

function keyColumn(rows: Rows): string {
  const found = rows.columns?.find((column) => {
    const values = rows.rows.map(({ value }) => (isMap(value) && isScalar(value[column]) ? String(value[column]) : ''));
    return new Set(values).size === values.length && values.every((value) => checkKey(value) === undefined);
  });
  return pathPart(found ?? 'id');
}
