import { emptyMap, type JsonMap, shorten } from '../../ground/values.ts';
import { type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import { suggestName } from '../../manifest/suggest.ts';
import { makeReference } from '../../manifest/template/references.ts';
import { addressPart } from '../address.ts';
import { Expansion, type GraphFacts } from '../expansion.ts';
import { renderValue } from '../render/render-value.ts';
import { findTemplates } from '../render/templates.ts';
import type { Draft, ExpandedTask, TaskRows } from './draft.ts';
import { expandMatrix } from './expand-matrix.ts';
import { expandTask } from './expand-task.ts';
import { checkChoices, gatesOf, isAxisKnown, seenThroughGate } from './gates.ts';
import { attributeNames, attributeOf, readPick } from './join.ts';
import { resolveVars } from './resolve-vars.ts';
import { readTables } from './tables.ts';
import { type PartSource, readTaskRows, shapeOfParts } from './task-rows.ts';

/**
 * Begins the expansion of a manifest: reads its vars, tables and rows, and expands each task's matrix. `check` is
 * called for each task directly after its matrix, so that its mistakes are reported next to those of the matrix.
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

/** Expands tasks in this order: tasks over parts need the steps that make the parts. */
export function expandTasks(order: readonly Task[], expansion: Expansion): void {
  for (const task of order) {
    const expanded = expandTask(task, rowsForSteps(task, expansion), expansion);
    expansion.expanded.set(task.id, withGates(expanded, expansion));
  }
}

function withGates(expanded: ExpandedTask, expansion: Expansion): ExpandedTask {
  const { gate } = expanded.task;
  if (gate === undefined || !isAxisKnown(expanded, expansion)) return expanded;
  const gates = gatesOf(expanded);
  checkChoices(expanded, gates, expansion);
  return gate.is === 'approve'
    ? { ...expanded, gates }
    : { ...expanded, gates, offered: seenThroughGate(expanded, gate, gates) };
}

function rowsForSteps(task: Task, expansion: Expansion): TaskRows {
  const rows = expansion.rowsOf(task.id);
  if (task.rows.from !== 'parts' || rows === 'unknown') return rows;
  const source = task.rows;
  const producer = expansion.expanded.get(source.task);
  if (producer === undefined || !producer.complete) return 'unknown';
  const drafts = pickPartSteps(task, { source, producer }, expansion);
  return drafts === undefined ? 'unknown' : rowsOfParts(task, { source, drafts }, expansion.manifest);
}

/**
 * Returns the steps whose parts a task uses: all steps of the other task, or those that `from` picks. Undefined if that
 * is wrong, which is reported once and not for each part.
 */
function pickPartSteps(
  task: Task,
  { source, producer }: { source: PartSource; producer: ExpandedTask },
  expansion: Expansion,
): readonly Draft[] | undefined {
  const { templates, vars } = expansion;
  const { places } = expansion.manifest;
  const conditions: { name: string; values: string[] }[] = [];
  const names = attributeNames(producer);
  let isBroken = false;
  for (const { name, value } of task.from.find((one) => one.task === source.task)?.picks ?? []) {
    const path = taskPath(task.id, 'from', source.task, name);
    if (!names.includes(name)) {
      const message = `the steps of \`${source.task}\` have no \`${shorten(name)}\``;
      const hint = suggestName(name, names, { what: 'they have' });
      expansion.reportError({ code: 'MB1405', message, hint, place: places.key(path) });
      isBroken = true;
      continue;
    }
    const roots = findTemplates(value, path).flatMap(({ text }) => templates.get(text)?.paths ?? []);
    if (roots.some(({ parts }) => parts[0] !== 'vars')) {
      const message = `\`from\` of task \`${task.id}\` uses values of its rows, but its rows are parts of the selected step`;
      const hint = 'write a constant, or use vars';
      expansion.reportError({ code: 'MB1202', message, hint, place: places.value(path) });
      isBroken = true;
      continue;
    }
    const rendered = renderValue(value, path, {
      templates,
      scopeAt: () => ({ names: Object.assign(Object.create(null) as JsonMap, { vars }) }),
      onFault: (fault, site) => expansion.reportFault(fault, site),
    });
    const { found, problem } = readPick(rendered, { task: source.task, name });
    if (problem !== undefined) expansion.report({ ...problem, place: places.value(path) });
    if (found === undefined) isBroken = true;
    else conditions.push({ name, values: found });
  }
  if (isBroken) return undefined;
  const isMeant = (draft: Draft) => conditions.every(({ name, values }) => values.includes(attributeOf(draft, name)));
  const drafts = producer.drafts.filter(isMeant);
  if (drafts.length > 0 || conditions.length === 0 || producer.leftOut.some(isMeant)) return drafts;
  const asked = conditions.map(({ name, values }) => `${name} ${shorten(values.join(' or '))}`).join(', ');
  const message = `\`from\` matches no step of \`${source.task}\`: none has ${asked}`;
  const known = [...producer.drafts, ...producer.leftOut].slice(0, 4).map(({ address }) => address);
  const place = places.key(taskPath(task.id, 'from', source.task));
  const hint = known.length === 0 ? 'remove it' : `it has ${known.join('  ')}`;
  expansion.reportError({ code: 'MB1405', message, hint, place });
  return undefined;
}

function rowsOfParts(
  task: Task,
  { source, drafts }: { source: PartSource; drafts: readonly Draft[] },
  manifest: Manifest,
): Rows {
  const place = () => manifest.places.value(taskPath(task.id, 'foreach'));
  const rows = drafts.flatMap((draft) => {
    const key = nameOf(draft);
    return Array.from({ length: source.most }, (_, index): Row => {
      const number = index + 1;
      const value = emptyMap();
      const part = (field: string) => makeReference(draft.address, `${source.parts}.${index}.${field}`);
      Object.assign(value, { number, order: index, url: part('url'), id: part('id'), key });
      return {
        value,
        label: `part ${number} of ${draft.address}`,
        place,
        key: key === '' ? String(number) : `${key}-${number}`,
        part: { of: draft.address, index },
      };
    });
  });
  return { ...shapeOfParts(source), rows };
}

/** Returns a name of the step for row keys, unique within its task. */
function nameOf(draft: Draft): string {
  const names = [...(draft.key === undefined ? [] : [draft.key]), ...Object.values(draft.matrix).map(addressPart)];
  return [...names, ...(draft.take === undefined ? [] : [String(draft.take)])].join('-').slice(0, 90);
}
