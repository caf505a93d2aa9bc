import type { Diagnostic } from '../../ground/diagnostic.ts';
import { defined, describeValue, emptyMap, isMap, isScalar, shorten, unknownValue } from '../../ground/values.ts';
import { type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import { pathPart, suggestName } from '../../manifest/suggest.ts';
import { makeReference, readTruth } from '../../manifest/template/template.ts';
import { addressPart, forbiddenIn, maxKeyLength, stepAddress } from '../address.ts';
import { Expansion, type GraphFacts } from '../expansion.ts';
import type { Gate } from '../graph.ts';
import { columnIn } from '../render/templates.ts';
import { type Cell, type Draft, type ExpandedTask, hasKey, type TaskRows, trailOf, withTrail } from './draft.ts';
import { expandMatrix } from './expand-matrix.ts';
import { attributeOf, indexSteps, readPicks } from './join.ts';
import { resolveVars } from './resolve-vars.ts';
import { readTables, scopeOf } from './tables.ts';
import { type PartSource, readTaskRows, shapeOfParts } from './task-rows.ts';

/**
 * Reads the vars, tables and rows of a manifest and expands all matrices. Expands the matrix of each task, and then
 * calls `check` for the task.
 */
export function beginExpansion(
  manifest: Manifest,
  facts: GraphFacts,
  check: (task: Task, expansion: Expansion) => void = () => undefined,
): Expansion {
  const expansion = new Expansion(manifest, facts);
  expansion.vars = resolveVars(expansion);
  readTables(expansion);
  readTaskRows(expansion);
  for (const task of manifest.tasks) {
    const cells = expandMatrix(task, expansion);
    if (cells !== undefined) expansion.cells.set(task.id, cells);
    check(task, expansion);
  }
  return expansion;
}

const maxSteps = 100_000;

/**
 * Makes the steps of the given tasks, in the order of the list. Counts the steps of a task before it makes them, so
 * that a huge matrix takes no memory. If there are too many steps, reports an error and returns false.
 */
export function expandTasks(order: readonly Task[], expansion: Expansion): boolean {
  let total = 0;
  for (const task of order) {
    const source = task.rows.from === 'parts' ? task.rows : undefined;
    const parts = source && findPartSteps(task, source, expansion);
    const given = source !== undefined && parts === undefined ? 'unknown' : expansion.rowsOf(task.id);
    const cells = expansion.cells.get(task.id)?.cells.length ?? 0;
    const count = countRows(given, source && (parts?.length ?? 0) * source.most) * cells * (task.takes ?? 1);
    total += count;
    if (total > maxSteps) {
      reportTooLarge(task, count, expansion);
      return false;
    }
    const rows = source === undefined || parts === undefined ? given : rowsOfParts(task, { source, parts }, expansion);
    expansion.expanded.set(task.id, withGates(expandTask(task, rows, expansion), expansion));
  }
  return true;
}

function countRows(rows: TaskRows, parts: number | undefined): number {
  if (typeof rows === 'string') return rows === 'none' ? 1 : 0;
  return parts ?? rows.rows.length;
}

function reportTooLarge({ id }: Task, count: number, expansion: Expansion): void {
  const [own, most] = [count, maxSteps].map((number) => number.toLocaleString('en-US'));
  const message = `the manifest makes more than ${most} steps: task \`${id}\` alone makes ${own}`;
  const hint = 'use fewer rows, matrix values or takes, or split the campaign into several manifests';
  expansion.reportError({ code: 'MB1007', message, hint, place: expansion.manifest.places.key(taskPath(id)) });
}

function findPartSteps(task: Task, source: PartSource, expansion: Expansion): readonly Draft[] | undefined {
  const producer = expansion.expanded.get(source.task);
  if (expansion.rowsOf(task.id) === 'unknown' || producer?.complete !== true) return undefined;
  const { templates, vars } = expansion;
  const { places } = expansion.manifest;
  const path = taskPath(task.id, 'from', source.task);
  for (const { name, value } of task.from.find((one) => one.task === source.task)?.picks ?? []) {
    if (templates.pathsIn(value).every(({ parts }) => parts[0] === 'vars')) continue;
    const message = `\`from\` of task \`${task.id}\` cannot use values of the rows, because the rows are parts of the step that \`from\` selects`;
    const hint = 'write a constant, or use vars';
    expansion.reportError({ code: 'MB1202', message, hint, place: places.value([...path, name]) });
    return undefined;
  }
  const picks = readPicks(task, producer, {
    places,
    report: (error) => expansion.report(error),
    render: (value, at) => expansion.render(value, at, () => ({ names: { vars } })),
  });
  if (picks === undefined) return undefined;
  const isMeant = (draft: Draft) => picks.every(({ name, values }) => values.includes(attributeOf(draft, name)));
  const drafts = producer.drafts.filter(isMeant);
  if (drafts.length > 0 || picks.length === 0 || producer.leftOut.some(isMeant)) return drafts;
  const asked = picks.map(({ name, values }) => `${name} ${shorten(values.join(' or '))}`).join(', ');
  const message = `\`from\` matches no step of \`${source.task}\`: none has ${asked}`;
  const known = [...producer.drafts, ...producer.leftOut].slice(0, 4).map(({ address }) => address);
  const hint = known.length === 0 ? 'remove it' : `it has ${known.join('  ')}`;
  expansion.reportError({ code: 'MB1405', message, hint, place: places.key(path) });
  return undefined;
}

function rowsOfParts(
  task: Task,
  { source, parts }: { source: PartSource; parts: readonly Draft[] },
  { manifest }: Expansion,
): Rows {
  const place = () => manifest.places.value(taskPath(task.id, 'foreach'));
  const rows = parts.flatMap((draft) => {
    const key = nameForKeys(draft);
    return Array.from({ length: source.most }, (_, index): Row => {
      const number = index + 1;
      const field = (name: string) => makeReference(draft.address, `${source.parts}.${index}.${name}`);
      return {
        value: Object.assign(emptyMap(), { number, order: index, url: field('url'), id: field('id'), key }),
        label: `part ${number} of ${draft.address}`,
        place,
        key: key === '' ? String(number) : `${key}-${number}`,
        part: { of: draft.address, index },
      };
    });
  });
  return { ...shapeOfParts(source), rows };
}

function nameForKeys(draft: Draft): string {
  const names = [...(draft.key === undefined ? [] : [draft.key]), ...Object.values(draft.matrix).map(addressPart)];
  return [...names, ...(draft.take === undefined ? [] : [String(draft.take)])].join('-').slice(0, 90);
}

/**
 * Adds the gates of a task. With `approve`, each step has a gate. With `choose`, the steps among which users choose
 * share a gate. Other tasks refer to the steps of a gate as one step, whose address is the name of the gate.
 */
function withGates(expanded: ExpandedTask, expansion: Expansion): ExpandedTask {
  const { task, drafts } = expanded;
  const { gate } = task;
  if (gate === undefined || !isAxisKnown(expanded, expansion)) return expanded;
  const words = defined({ note: gate.note, reasons: gate.reasons });
  const makeGate = (name: string, members: string[]): Gate => {
    return { name, task: task.id, is: gate.is, choose: gate.is === 'approve' ? 1 : gate.choose, members, ...words };
  };
  if (gate.is === 'approve') return { ...expanded, gates: drafts.map(({ address }) => makeGate(address, [address])) };
  const { among } = gate;
  const isChosen = (axis: string) => among.by === 'all' || (among.by === 'axis' && among.axis === axis);
  const axes = expanded.axes.filter((axis) => !isChosen(axis));
  const groups = new Map<string, { offered: Draft; members: string[] }>();
  for (const draft of drafts) {
    const matrix = pickAxes(draft.matrix, axes);
    const key = among.by === 'all' ? undefined : draft.key;
    const take = among.by === 'axis' ? draft.take : undefined;
    const address = stepAddress(task.id, { key, values: Object.values(matrix).map(addressPart), take });
    const group = groups.get(address) ?? { offered: { ...draft, address, matrix, key, take }, members: [] };
    groups.set(address, group);
    group.members.push(draft.address);
  }
  const gates = [...groups].map(([name, { members }]) => makeGate(name, members));
  checkChoices(expanded, gates, expansion);
  const offered = [...groups.values()].map((group) => group.offered);
  return {
    ...expanded,
    gates,
    offered: {
      ...expanded,
      task: { ...task, takes: among.by === 'axis' ? task.takes : undefined },
      axes,
      hasKey: expanded.hasKey && among.by !== 'all',
      drafts: offered,
      find: indexSteps(offered),
    },
  };
}

function isAxisKnown({ task, axes }: ExpandedTask, expansion: Expansion): boolean {
  const { gate, id } = task;
  if (gate?.is !== 'choose' || gate.among.by !== 'axis' || axes.includes(gate.among.axis)) return true;
  // If the matrix has mistakes, its axes are unknown.
  if (!expansion.cells.has(id)) return false;
  const { axis } = gate.among;
  const hint =
    axes.length === 0
      ? 'the task has no matrix: set `among` to `takes` or `all`'
      : suggestName(axis, [...axes, 'takes', 'all'], { what: 'allowed values of `among`' });
  const message = `\`gate.among\` of task \`${id}\` is \`${shorten(axis)}\`, which is not an axis of its matrix`;
  const place = expansion.manifest.places.value(taskPath(id, 'gate', 'among'));
  expansion.reportError({ code: 'MB1103', message, hint, place });
  return false;
}

function checkChoices({ task, complete }: ExpandedTask, gates: readonly Gate[], expansion: Expansion): void {
  const few = complete ? gates.find(({ choose, members }) => members.length < choose) : undefined;
  if (few === undefined) return;
  const { choose, members, name } = few;
  const count = members.length;
  const message = `\`gate\` of task \`${task.id}\` chooses ${choose}, but ${name} has ${count} output${count === 1 ? '' : 's'}`;
  const hint = `choose ${count} or fewer, or add outputs`;
  const place = expansion.manifest.places.value(taskPath(task.id, 'gate', 'choose'));
  expansion.reportError({ code: 'MB1103', message, hint, place });
}

function expandTask(task: Task, rows: TaskRows, expansion: Expansion): ExpandedTask {
  const cells = expansion.cells.get(task.id);
  if (cells === undefined) {
    return { task, axes: [], hasKey: false, drafts: [], leftOut: [], complete: false, find: indexSteps([]) };
  }
  const { axes } = cells;
  const keyed = rows === 'unknown' ? [] : keyRows(task, rows, expansion);
  const count = task.takes ?? 1;
  const takes = Array.from({ length: count }, (_, index) => (count > 1 ? index + 1 : undefined));
  // All steps of a cell share one object of values, because most campaigns have few cells and many rows.
  const columns = cells.cells.map((cell) => {
    const matrix = pickAxes(cell, axes);
    return { cell, matrix, values: Object.values(matrix).map(addressPart) };
  });
  const drafts: Draft[] = [];
  const leftOut: Draft[] = [];
  for (const { row, key } of keyed) {
    for (const { cell, matrix, values } of columns) {
      for (const take of takes) {
        const address = stepAddress(task.id, { key, values, take });
        const draft: Draft = { address, task, key, matrix, cell, take, row, part: row?.part };
        (isSelected(draft, expansion) ? drafts : leftOut).push(draft);
      }
    }
  }
  const complete = rows !== 'unknown' && keyed.length === (rows === 'none' ? 1 : rows.rows.length);
  return { task, axes, hasKey: hasKey(task, rows), drafts, leftOut, complete, find: indexSteps(drafts) };
}

function pickAxes(cell: Cell, axes: readonly string[]): { [axis: string]: string } {
  const matrix = Object.create(null) as { [axis: string]: string };
  for (const axis of axes) matrix[axis] = String(cell[axis]);
  return matrix;
}

function isSelected(draft: Draft, expansion: Expansion): boolean {
  const { rowsWhen = true, when = true } = draft.task;
  return holdsFor(draft, 'rowsWhen', rowsWhen, expansion) && holdsFor(draft, 'when', when, expansion);
}

function holdsFor(draft: Draft, name: string, condition: string | boolean, expansion: Expansion): boolean {
  if (typeof condition === 'boolean') return condition;
  const path = taskPath(draft.task.id, name);
  const scopeAt = () => scopeOf(draft, expansion);
  const value = expansion.render(condition, path, scopeAt, (found) => withTrail(found, draft));
  const truth = value === unknownValue ? false : readTruth(value);
  if (truth !== undefined) return truth;
  const message = `\`when\` is ${describeValue(value)}, and must be true or false`;
  const hint = 'compare it, as in "{{eq row.state \'live\'}}" or, for a filled cell, "{{ne row.date \'\'}}"';
  const place = expansion.manifest.places.value(path);
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
  if (rows !== 'none' && rows.rows.length > 1 && isSameForAll(task, expansion)) {
    const message = `the key of task \`${task.id}\` is the same for every row`;
    const column = `use a column of the row, as in "{{row.${keyColumn(rows)}}}"`;
    const hint = rows.columns === undefined ? 'write "{{row}}"' : column;
    expansion.reportError({ code: 'MB1402', message, hint, place });
    return [];
  }
  const known = new Map<string, Row | undefined>();
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
        hint: 'keys must be unique within a task: remove one of the rows, or build the key from more columns',
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

function isSameForAll({ id, key }: Task, { templates }: Expansion): boolean {
  if (key === undefined || !templates.isSound(taskPath(id, 'key'))) return false;
  return templates.parse(key).paths.every(({ parts }) => parts[0] !== 'row');
}

function hintForKey(key: string, task: Task, { templates }: Expansion): string {
  if (task.key === undefined) return 'add `key: "{{slug row}}"`';
  const helper = checkKey(key.trim()) === undefined ? 'trim' : 'slug';
  const { paths } = templates.parse(task.key);
  const { written = 'row.name' } = paths.find(({ parts }) => parts[0] === 'row') ?? paths[0] ?? {};
  return `use another value, or {{${helper} …}}, as in "{{${helper} ${written}}}"`;
}

function whereIs(task: Task, row: Row | undefined, column?: string): Pick<Diagnostic, 'related'> & { trail: string[] } {
  const trail = trailOf({ task: task.id, row: row?.label });
  return row === undefined ? { trail } : { trail, related: [{ message: row.label, place: row.place(column) }] };
}

function renderKey(task: Task, row: Row | undefined, expansion: Expansion): string | undefined {
  if (task.key === undefined) return row?.key ?? (isScalar(row?.value) ? String(row.value) : undefined);
  const path = taskPath(task.id, 'key');
  const names = { vars: expansion.vars, ...(row && { row: row.value }) };
  const scopeAt = () => ({ names, rowLabel: row?.label });
  const value = expansion.render(task.key, path, scopeAt, (found) => ({ ...found, ...whereIs(task, row) }));
  if (value === unknownValue) return undefined;
  if (isScalar(value)) return String(value);
  const message = `the key of task \`${task.id}\` is ${describeValue(value)}`;
  const hint = 'a key is a string or a number';
  const place = expansion.manifest.places.value(path);
  expansion.reportError({ code: 'MB1401', message, hint, place, ...whereIs(task, row) });
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
  if (/[^\S\ufeff]/.test(character)) return 'white space';
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
