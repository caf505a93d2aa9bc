import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { emptyMap, type Path } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import { isTemplate } from '../../manifest/template/template.ts';
import type { TaskRows } from '../expand/draft.ts';
import { hasKey } from '../expand/expand-task.ts';
import type { Expansion } from '../expansion.ts';
import { renderValue } from '../render/render-value.ts';
import { findTemplates, type TemplateSite, type Templates } from '../render/templates.ts';
import { checkPaths, type KnownNames, type RootName, type RowShape } from './check-paths.ts';
import { checkRequest } from './check-request.ts';
import type { RequestFault } from './request-fault.ts';

/**
 * Finds mistakes of a task that show without its steps: templates that cannot be parsed or name nothing, in all their
 * branches, and fields of the request that are wrong whatever the templates give.
 */
export function checkTask(task: Task, expansion: Expansion): void {
  const { id } = task;
  const names = knownNames(task, expansion);
  const check = (value: Json, path: Path, roots: readonly RootName[], what: string) => {
    checkTemplates(findTemplates(value, path), { ...names, roots, what: `${what} of task \`${id}\`` }, expansion);
  };
  for (const field of task.with) {
    check(field.value, field.path, ['vars', 'row', 'matrix', 'key', 'take', 'tasks'], '`with`');
  }
  if (task.key !== undefined) check(task.key, taskPath(id, 'key'), ['vars', 'row'], '`key`');
  if (task.save !== undefined) {
    check(task.save, taskPath(id, 'save'), ['vars', 'row', 'matrix', 'key', 'take'], '`save`');
  }
  if (typeof task.when === 'string') {
    check(task.when, taskPath(id, 'when'), ['vars', 'row', 'matrix', 'key', 'take'], '`when`');
  }
  if (task.description !== undefined) check(task.description, taskPath(id, 'description'), ['vars'], '`description`');
  for (const { task: from, picks } of task.from) {
    for (const pick of picks) {
      check(pick.value, taskPath(id, 'from', from, pick.name), ['vars', 'row', 'matrix', 'key', 'take'], '`from`');
    }
  }
  const kind = task.kind === undefined ? undefined : kinds[task.kind];
  if (kind === undefined) return;
  const { manifest, templates } = expansion;
  const request = emptyMap();
  for (const { field, value, path } of task.with) request[field] = renderValue(value, path, { templates });
  for (const fault of checkRequest(kind, request, expansion.facts))
    expansion.report(placeRequestFault(fault, task, manifest));
}

/** Finds wrong fields of `defaults` that no task reveals, because no task of the kind uses them. */
export function checkDefaults(expansion: Expansion): void {
  const { manifest, templates } = expansion;
  for (const [name, fields] of Object.entries(manifest.defaults)) {
    const kind = kinds[name];
    if (kind === undefined) continue;
    const request = emptyMap();
    for (const [field, value] of Object.entries(fields)) request[field] = renderValue(value, [], { templates });
    for (const { at, meant, ...words } of checkRequest(kind, request, expansion.facts)) {
      if (words.code === 'MB1502') continue;
      const path = ['defaults', name, ...at];
      const place = isAboutField(words) ? manifest.places.key(path) : manifest.places.value(path);
      const fix = meant === undefined ? undefined : { place, text: meant };
      expansion.report({ severity: 'error', ...words, place, fix });
    }
  }
}

/** Places a mistake in a request where the field is written: in the task, or in the defaults. */
export function placeRequestFault(fault: RequestFault, task: Task, manifest: Manifest): Diagnostic {
  const { code, message, hint, at, severity = 'error', meant } = fault;
  const [name, ...deeper] = at;
  const { places } = manifest;
  const field = task.with.find((one) => one.field === name);
  const error: Diagnostic = { code, severity, message, hint };
  if (field === undefined)
    return { ...error, message: `${message} in task \`${task.id}\``, place: places.key(taskPath(task.id, 'with')) };
  const path = [...field.path, ...deeper];
  const place = isAboutField(fault) ? places.key(path) : places.value(path);
  return { ...error, place, fix: meant === undefined ? undefined : { place, text: meant } };
}

/** Whether the name of a field is wrong, not its value. */
function isAboutField({ code }: Pick<RequestFault, 'code'>): boolean {
  return code === 'MB1501' || code === 'MB1508';
}

function checkTemplates(sites: readonly TemplateSite[], known: KnownNames, expansion: Expansion): void {
  for (const site of sites) {
    const { faults, paths } = expansion.templates.parse(site.text);
    const found = [...faults, ...checkPaths(paths, known)];
    if (found.length > 0) expansion.templates.markUnsound(site.path);
    for (const fault of found) expansion.reportFault(fault, site);
  }
}

function knownNames(task: Task, expansion: Expansion): Omit<KnownNames, 'roots' | 'what'> {
  const rows = expansion.rowsOf(task.id);
  const axes = task.matrix === undefined ? undefined : (expansion.cells.get(task.id)?.axes ?? 'unknown');
  return {
    vars: expansion.vars,
    row: shapeOf(rows),
    axes,
    hasKey: rows === 'unknown' || hasKey(task, rows),
    hasTakes: task.takes !== undefined,
    tasks: expansion.kinds,
  };
}

function shapeOf(rows: TaskRows): RowShape {
  if (typeof rows !== 'object') return rows;
  if (rows.rows.length === 0 && rows.columns === undefined) return 'unknown';
  return { label: rows.label, columns: rows.columns };
}

/** Tells whether a task's output path contains the take. */
export function savesByTake(task: Task, templates: Templates): boolean {
  if (task.save === undefined || !isTemplate(task.save)) return false;
  return templates.get(task.save)?.paths.some((path) => path.parts[0] === 'take') === true;
}
