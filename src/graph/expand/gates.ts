import { defined, groupBy, shorten } from '../../ground/values.ts';
import { type GateRule, taskPath } from '../../manifest/manifest.ts';
import { suggestName } from '../../manifest/suggest.ts';
import { addressPart, stepAddress } from '../address.ts';
import type { Expansion } from '../expansion.ts';
import type { Gate } from '../graph.ts';
import type { Draft, ExpandedTask } from './draft.ts';
import { indexSteps } from './join.ts';

type Choice = Extract<GateRule, { is: 'choose' }>;

/** Returns the gates of the steps. With `approve`, each step has one. */
export function gatesOf({ task, axes, drafts }: Pick<ExpandedTask, 'task' | 'axes' | 'drafts'>): Gate[] {
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
export function seenThroughGate(expanded: ExpandedTask, gate: Choice, gates: readonly Gate[]): ExpandedTask {
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

/** Returns whether the attribute that a gate chooses by exists. An unknown axis is reported. */
export function isAxisKnown({ task, axes }: ExpandedTask, expansion: Expansion): boolean {
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

/** Reports, once, a gate that asks for more picks than it has steps. */
export function checkChoices({ task, complete }: ExpandedTask, gates: readonly Gate[], expansion: Expansion): void {
  const few = complete ? gates.find(({ choose, members }) => members.length < choose) : undefined;
  if (few === undefined) return;
  const { choose, members, name } = few;
  const there = members.length === 1 ? 'there is 1' : `there are ${members.length}`;
  const message = `\`gate\` of task \`${task.id}\` chooses ${choose}, and of ${name} ${there}`;
  const hint = `choose ${members.length} or fewer, or add outputs`;
  const place = expansion.manifest.places.value(taskPath(task.id, 'gate', 'choose'));
  expansion.reportError({ code: 'MB1103', message, hint, place });
}
