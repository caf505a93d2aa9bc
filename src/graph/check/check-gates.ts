import { shorten } from '../../ground/values.ts';
import { taskPath } from '../../manifest/manifest.ts';
import { suggestName } from '../../manifest/suggest.ts';
import type { ExpandedTask } from '../expand/draft.ts';
import type { Expansion } from '../expansion.ts';
import type { Gate } from '../graph.ts';

/** Tells whether what a gate chooses among is there; an axis that is none is reported. */
export function isAxisKnown({ task, axes }: ExpandedTask, expansion: Expansion): boolean {
  const { gate, id } = task;
  if (gate?.is !== 'choose' || gate.among.by !== 'axis' || axes.includes(gate.among.axis)) return true;
  // Of a matrix that is wrong the axes are not known.
  if (!expansion.cells.has(id)) return false;
  const { axis } = gate.among;
  const hint =
    axes.length === 0
      ? 'the task has no matrix: choose among `takes` or `all`'
      : suggestName(axis, [...axes, 'takes', 'all'], { what: 'it can choose among' });
  const message = `\`gate\` of task \`${id}\` chooses among \`${shorten(axis)}\`, which is no axis of its matrix`;
  const place = expansion.manifest.places.value(taskPath(id, 'gate', 'among'));
  expansion.reportError({ code: 'MB1407', message, hint, place });
  return false;
}

/** Reports a gate that asks for more than there are, once. */
export function checkChoices({ task, complete }: ExpandedTask, gates: readonly Gate[], expansion: Expansion): void {
  const few = complete ? gates.find(({ choose, members }) => members.length < choose) : undefined;
  if (few === undefined) return;
  const { choose, members, name } = few;
  const there = members.length === 1 ? 'there is 1' : `there are ${members.length}`;
  const message = `\`gate\` of task \`${task.id}\` chooses ${choose}, and of ${name} ${there}`;
  const hint = `choose ${members.length} or fewer, or let there be more`;
  const place = expansion.manifest.places.value(taskPath(task.id, 'gate', 'choose'));
  expansion.reportError({ code: 'MB1103', message, hint, place });
}
