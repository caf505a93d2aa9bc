import { groupBy } from '../../ground/values.ts';
import type { GateRule } from '../../manifest/manifest.ts';
import { addressPart, stepAddress } from '../address.ts';
import type { Gate } from '../graph.ts';
import type { Draft, ExpandedTask } from './draft.ts';
import { indexSteps } from './join.ts';

type Choice = Extract<GateRule, { is: 'choose' }>;

/** Returns the gates of a task's steps; with `approve` one for each of them. */
export function gatesOf({ task, axes, drafts }: Pick<ExpandedTask, 'task' | 'axes' | 'drafts'>): Gate[] {
  const { gate } = task;
  if (gate === undefined) return [];
  const note = gate.note === undefined ? {} : { note: gate.note };
  if (gate.is === 'approve') {
    return drafts.map(({ address }) => ({
      ...{ name: address, task: task.id, is: 'approve', choose: 1, members: [address] },
      ...note,
    }));
  }
  const groups = groupBy(drafts, (draft) => nameOfGroup(draft, gate, axes));
  return [...groups].map(([name, members]) => ({
    ...{ name, task: task.id, is: 'choose', choose: gate.choose, members: members.map(({ address }) => address) },
    ...note,
  }));
}

/**
 * Returns the task as others see it through its gate: instead of the steps that are chosen among, one that stands for what
 * is picked, without the attribute in which they differ. Its address is the name of the gate.
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
