import type { Gate, Graph } from '../graph/graph.ts';
import { gatesByMember } from './gates.ts';

/**
 * Finds the steps that hang on any of these gates: they need it, or one of its steps, or a step that does, or go after
 * those of their own task that it asks about.
 */
export function findBehind(
  { steps, gates = [] }: Pick<Graph, 'steps' | 'gates'>,
  open: readonly Pick<Gate, 'name' | 'task' | 'members'>[],
): Set<string> {
  const asked = new Set(open.flatMap(({ name, members }) => [name, ...members]));
  const tasks = new Set(open.map(({ task }) => task));
  const behind = new Set<string>();
  const gateOf = gatesByMember(gates);
  // A gate's steps precede what hangs on it.
  for (const { address, task, needs } of steps) {
    const isAfter = tasks.has(task) && !asked.has(address);
    if (!isAfter && !needs.some((need) => asked.has(need) || behind.has(need))) continue;
    behind.add(address);
    behind.add(gateOf.get(address)?.name ?? address);
  }
  return behind;
}
