import type { Gate, Graph } from '../graph/graph.ts';
import { gatesByMember } from './gates.ts';

/**
 * Finds the steps that hang on any of these gates: they need it, or one of its steps, or a step that does, or are the others
 * of a canary that it asks about.
 */
export function findBehind(
  { steps, gates = [], canaries = [] }: Pick<Graph, 'steps' | 'gates' | 'canaries'>,
  open: readonly Pick<Gate, 'name' | 'members'>[],
): Set<string> {
  const asked = new Set(open.flatMap(({ name, members }) => [name, ...members]));
  const led = canaries.filter(({ name, asks }) => asks && asked.has(name));
  const others = new Set(led.flatMap(({ members }) => members.filter((address) => !asked.has(address))));
  const behind = new Set<string>();
  const gateOf = gatesByMember(gates);
  // A gate's steps precede what hangs on it.
  for (const { address, needs } of steps) {
    if (!others.has(address) && !needs.some((need) => asked.has(need) || behind.has(need))) continue;
    behind.add(address);
    behind.add(gateOf.get(address)?.name ?? address);
  }
  return behind;
}
