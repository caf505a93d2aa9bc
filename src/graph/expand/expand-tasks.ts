import { defined, emptyMap, groupBy, shorten } from '../../ground/values.ts';
import { type GateRule, type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import { suggestName } from '../../manifest/suggest.ts';
import { makeReference } from '../../manifest/template/template.ts';
import { addressPart, stepAddress } from '../address.ts';
import { Expansion, type GraphFacts } from '../expansion.ts';
import type { Gate } from '../graph.ts';
import { findTemplates, renderValue } from '../render/templates.ts';
import type { Draft, ExpandedTask, TaskRows } from './draft.ts';
import { expandMatrix } from './expand-matrix.ts';
import { expandTask } from './expand-task.ts';
import { attributeOf, indexSteps, readPicks } from './join.ts';
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
  const path = taskPath(task.id, 'from', source.task);
  for (const { name, value } of task.from.find((one) => one.task === source.task)?.picks ?? []) {
    const roots = findTemplates(value, path).flatMap(({ text }) => templates.get(text)?.paths ?? []);
    if (roots.every(({ parts }) => parts[0] === 'vars')) continue;
    const message = `\`from\` of task \`${task.id}\` uses values of its rows, but its rows are parts of the selected step`;
    const hint = 'write a constant, or use vars';
    expansion.reportError({ code: 'MB1202', message, hint, place: places.value([...path, name]) });
    return undefined;
  }
  const conditions = readPicks(task, producer, {
    places,
    report: (error) => expansion.report(error),
    render: (value, at) =>
      renderValue(value, at, {
        templates,
        scopeAt: () => ({ names: Object.assign(emptyMap(), { vars }) }),
        onFault: (fault, site) => expansion.reportFault(fault, site),
      }),
  });
  if (conditions === undefined) return undefined;
  const isMeant = (draft: Draft) => conditions.every(({ name, values }) => values.includes(attributeOf(draft, name)));
  const drafts = producer.drafts.filter(isMeant);
  if (drafts.length > 0 || conditions.length === 0 || producer.leftOut.some(isMeant)) return drafts;
  const asked = conditions.map(({ name, values }) => `${name} ${shorten(values.join(' or '))}`).join(', ');
  const message = `\`from\` matches no step of \`${source.task}\`: none has ${asked}`;
  const known = [...producer.drafts, ...producer.leftOut].slice(0, 4).map(({ address }) => address);
  const place = places.key(path);
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
    const key = nameForKeys(draft);
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

function nameForKeys(draft: Draft): string {
  const names = [...(draft.key === undefined ? [] : [draft.key]), ...Object.values(draft.matrix).map(addressPart)];
  return [...names, ...(draft.take === undefined ? [] : [String(draft.take)])].join('-').slice(0, 90);
}

type Choice = Extract<GateRule, { is: 'choose' }>;

/** Returns the gates of the steps. With `approve`, each step has one. */
function gatesOf({ task, axes, drafts }: Pick<ExpandedTask, 'task' | 'axes' | 'drafts'>): Gate[] {
  const { gate } = task;
  if (gate === undefined) return [];
  const { note, reasons } = gate;
  const words = defined({ note, reasons });
  if (gate.is === 'approve') {
    return drafts.map(({ address }) => ({
      ...{ name: address, task: task.id, is: 'approve', choose: 1, members: [address] },
      ...words,
    }));
  }
  const groups = groupBy(drafts, (draft) => nameOfGroup(draft, gate, axes));
  return [...groups].map(([name, members]) => ({
    ...{ name, task: task.id, is: 'choose', choose: gate.choose, members: members.map(({ address }) => address) },
    ...words,
  }));
}

/**
 * Returns the task as other tasks see it through its gate: the steps of a choice are replaced by one that represents
 * the picked step. It lacks the attribute in which they differ, and its address is the name of the gate.
 */
function seenThroughGate(expanded: ExpandedTask, gate: Choice, gates: readonly Gate[]): ExpandedTask {
  const { task, axes, drafts, hasKey } = expanded;
  const left = axes.filter((axis) => !isChosen(axis, gate));
  const byAddress = new Map(drafts.map((draft) => [draft.address, draft]));
  const merged = gates.flatMap(({ name, members: [first = ''] }) => {
    const draft = byAddress.get(first);
    return draft === undefined ? [] : [withoutChoice(draft, { name, gate, axes: left })];
  });
  return {
    ...expanded,
    task: { ...task, takes: gate.among.by === 'axis' ? task.takes : undefined },
    axes: left,
    hasKey: hasKey && gate.among.by !== 'all',
    drafts: merged,
    find: indexSteps(merged),
  };
}

function isChosen(axis: string, { among }: Choice): boolean {
  return among.by === 'all' || (among.by === 'axis' && among.axis === axis);
}

function nameOfGroup({ task, key, matrix, take }: Draft, gate: Choice, axes: readonly string[]): string {
  const values = axes.filter((axis) => !isChosen(axis, gate)).map((axis) => addressPart(matrix[axis] ?? ''));
  const byAxis = gate.among.by === 'axis';
  return stepAddress(task.id, {
    key: gate.among.by === 'all' ? undefined : key,
    values,
    take: byAxis ? take : undefined,
  });
}

function withoutChoice(draft: Draft, { name, gate, axes }: { name: string; gate: Choice; axes: string[] }): Draft {
  const matrix = Object.create(null) as Draft['matrix'];
  for (const axis of axes) matrix[axis] = draft.matrix[axis] ?? '';
  return {
    ...draft,
    address: name,
    matrix,
    key: gate.among.by === 'all' ? undefined : draft.key,
    take: gate.among.by === 'axis' ? draft.take : undefined,
  };
}

function isAxisKnown({ task, axes }: ExpandedTask, expansion: Expansion): boolean {
  const { gate, id } = task;
  if (gate?.is !== 'choose' || gate.among.by !== 'axis' || axes.includes(gate.among.axis)) return true;
  // The axes of a wrong matrix are not known.
  if (!expansion.cells.has(id)) return false;
  const { axis } = gate.among;
  const hint =
    axes.length === 0
      ? 'the task has no matrix: choose among `takes` or `all`'
      : suggestName(axis, [...axes, 'takes', 'all'], { what: 'it can choose among' });
  const message = `\`gate\` of task \`${id}\` chooses among \`${shorten(axis)}\`, which is not an axis of its matrix`;
  const place = expansion.manifest.places.value(taskPath(id, 'gate', 'among'));
  expansion.reportError({ code: 'MB1103', message, hint, place });
  return false;
}

function checkChoices({ task, complete }: ExpandedTask, gates: readonly Gate[], expansion: Expansion): void {
  const few = complete ? gates.find(({ choose, members }) => members.length < choose) : undefined;
  if (few === undefined) return;
  const { choose, members, name } = few;
  const there = members.length === 1 ? 'there is 1' : `there are ${members.length}`;
  const message = `\`gate\` of task \`${task.id}\` chooses ${choose}, and of ${name} ${there}`;
  const hint = `choose ${members.length} or fewer, or add outputs`;
  const place = expansion.manifest.places.value(taskPath(task.id, 'gate', 'choose'));
  expansion.reportError({ code: 'MB1103', message, hint, place });
}
