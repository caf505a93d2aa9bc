import { defined, emptyMap, shorten } from '../../ground/values.ts';
import { type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import { suggestName } from '../../manifest/suggest.ts';
import { makeReference } from '../../manifest/template/template.ts';
import { addressPart, stepAddress } from '../address.ts';
import { Expansion, type GraphFacts } from '../expansion.ts';
import type { Gate } from '../graph.ts';
import { findTemplates, renderValue } from '../render/templates.ts';
import type { Draft, ExpandedTask, TaskRows } from './draft.ts';
import { expandMatrix } from './expand-matrix.ts';
import { expandTask, pickAxes } from './expand-task.ts';
import { attributeOf, indexSteps, readPicks } from './join.ts';
import { resolveVars } from './resolve-vars.ts';
import { readTables } from './tables.ts';
import { type PartSource, readTaskRows, shapeOfParts } from './task-rows.ts';

/**
 * Reads the vars, tables and rows of a manifest, and expands the matrix of each task. Calls `check` after each matrix.
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
 * Makes the steps of all tasks in the given order. Counts the steps of a task first, so that a huge matrix takes no
 * memory. Returns false if there are too many, which is reported.
 */
export function expandTasks(order: readonly Task[], expansion: Expansion): boolean {
  let total = 0;
  for (const task of order) {
    const source = task.rows.from === 'parts' ? task.rows : undefined;
    const parts = source && findPartSteps(task, source, expansion);
    const given = source !== undefined && parts === undefined ? 'unknown' : expansion.rowsOf(task.id);
    const count = countRows(given, source && (parts?.length ?? 0) * source.most) * countSteps(task, expansion);
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

function countSteps({ id, takes = 1 }: Task, { cells }: Expansion): number {
  return (cells.get(id)?.cells.length ?? 0) * takes;
}

function reportTooLarge({ id }: Task, count: number, expansion: Expansion): void {
  const [own, most] = [count, maxSteps].map((number) => number.toLocaleString('en-US'));
  const message = `the manifest makes more than ${most} steps: task \`${id}\` alone makes ${own}`;
  const hint = 'use fewer rows, matrix values or takes, or split the campaign into several manifests';
  expansion.reportError({ code: 'MB1007', message, hint, place: expansion.manifest.places.key(taskPath(id)) });
}

/**
 * Returns the steps whose parts are the rows of a task. Returns undefined if they are unknown, or if `from` is wrong,
 * which is reported.
 */
function findPartSteps(task: Task, source: PartSource, expansion: Expansion): readonly Draft[] | undefined {
  const producer = expansion.expanded.get(source.task);
  if (expansion.rowsOf(task.id) === 'unknown' || producer?.complete !== true) return undefined;
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
  const picks = readPicks(task, producer, {
    places,
    report: (error) => expansion.report(error),
    render: (value, at) =>
      renderValue(value, at, {
        templates,
        scopeAt: () => ({ names: Object.assign(emptyMap(), { vars }) }),
        onFault: (fault, site) => expansion.reportFault(fault, site),
      }),
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
 * Adds the gates of a task: one for each step with `approve`, else one for each group of steps that differ only in the
 * choice. Other tasks see one step for each group. Its address is the name of the gate.
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
