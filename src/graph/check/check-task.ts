import type { Diagnostic } from '../../ground/diagnostic.ts';
import { emptyMap, type JsonMap, type Path } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import { isTemplate } from '../../manifest/template/template.ts';
import type { Cells } from '../expand/expand-matrix.ts';
import { hasKey } from '../expand/expand-task.ts';
import type { TaskRows } from '../expand/task-rows.ts';
import { renderValue } from '../render/render-value.ts';
import { findTemplates, placeFault, type TemplateCache, textId } from '../render/templates.ts';
import { checkPaths, type KnownNames, type RootName, type RowShape } from './check-paths.ts';
import { checkRequest, type RequestFault } from './check-request.ts';

/** What a task's templates can see, found out once for all of its steps. */
export interface TaskFacts {
  manifest: Manifest;
  vars: JsonMap;
  rows: TaskRows;
  cells: Cells | undefined;
  templates: TemplateCache;
  /** The kind of each task, where it is right. */
  kindsByTask: ReadonlyMap<string, string | undefined>;
  /** Texts whose templates are wrong get in here, so that no step tells it again. */
  wrongTexts: Set<string>;
}

/**
 * Mistakes of a task that show without its steps: templates that cannot be parsed or name nothing, in all their
 * branches, and fields of the request that are wrong whatever the templates give.
 */
export function checkTask(task: Task, facts: TaskFacts): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const { id } = task;
  const check = (value: Task['with'][number]['value'], path: Path, names: readonly RootName[], what: string) => {
    diagnostics.push(...checkTemplates(value, path, { task, facts, roots: names, what }));
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
  if (kind === undefined) return diagnostics;
  const request = emptyMap();
  for (const { field, value, path } of task.with)
    request[field] = renderValue(value, path, { templates: facts.templates });
  for (const fault of checkRequest(kind, request)) diagnostics.push(placeRequestFault(fault, task, facts.manifest));
  return diagnostics;
}

/** Fields of `defaults` that no task shows to be wrong, because no task of the kind uses them. */
export function checkDefaults(manifest: Manifest, templates: TemplateCache): Diagnostic[] {
  return Object.entries(manifest.defaults).flatMap(([name, fields]) => {
    const kind = kinds[name];
    if (kind === undefined) return [];
    const request = emptyMap();
    for (const [field, value] of Object.entries(fields)) request[field] = renderValue(value, [], { templates });
    return checkRequest(kind, request)
      .filter((fault) => fault.code !== 'MB1502')
      .map(({ at, meant, ...words }): Diagnostic => {
        const path = ['defaults', name, ...at];
        const place = words.code === 'MB1501' ? manifest.places.key(path) : manifest.places.value(path);
        return { severity: 'error', ...words, place, ...(meant !== undefined && { fix: { place, text: meant } }) };
      });
  });
}

/** A mistake in a request, placed where the field is written: in the task, or in the defaults. */
export function placeRequestFault(fault: RequestFault, task: Task, manifest: Manifest): Diagnostic {
  const { code, message, hint, at, severity = 'error', meant } = fault;
  const [name, ...deeper] = at;
  const { places } = manifest;
  const field = task.with.find((one) => one.field === name);
  const error: Diagnostic = { code, severity, message, hint };
  if (field === undefined)
    return { ...error, message: `${message} in task \`${task.id}\``, place: places.key(taskPath(task.id, 'with')) };
  const place = code === 'MB1501' ? places.key(field.path) : places.value([...field.path, ...deeper]);
  return { ...error, place, ...(meant !== undefined && { fix: { place, text: meant } }) };
}

function checkTemplates(
  value: Task['with'][number]['value'],
  path: Path,
  from: { task: Task; facts: TaskFacts; roots: readonly RootName[]; what: string },
): Diagnostic[] {
  const { task, facts, roots, what } = from;
  const { places } = facts.manifest;
  const sites = findTemplates(value, path);
  if (sites.length === 0) return [];
  const known = { ...knownNames(task, facts), roots, what: `${what} of task \`${task.id}\`` };
  return sites.flatMap((site) => {
    const parsed = facts.templates.parse(site.text);
    const faults = [...parsed.faults, ...checkPaths(parsed.paths, known)];
    if (faults.length > 0) facts.wrongTexts.add(textId(site.path));
    return faults.map((fault) => placeFault(fault, { ...site, places }));
  });
}

function knownNames(task: Task, facts: TaskFacts): Omit<KnownNames, 'roots' | 'what'> {
  const { rows, cells, vars } = facts;
  const axes = task.matrix === undefined ? undefined : (cells?.axes ?? 'unknown');
  return {
    vars,
    row: shapeOf(rows),
    ...(axes === undefined ? {} : { axes }),
    hasKey: rows === 'unknown' || hasKey(task, rows),
    hasTakes: task.takes !== undefined,
    tasks: facts.kindsByTask,
  };
}

function shapeOf(rows: TaskRows): RowShape {
  if (typeof rows !== 'object') return rows;
  if (rows.rows.length === 0 && rows.columns === undefined) return 'unknown';
  return { label: rows.label, ...(rows.columns === undefined ? {} : { columns: rows.columns }) };
}

/** Whether a task's output path says which take it is. */
export function savesByTake(task: Task, templates: TemplateCache): boolean {
  if (task.save === undefined || !isTemplate(task.save)) return false;
  return templates.get(task.save)?.paths.some((path) => path.parts[0] === 'take') === true;
}
