import type { Lock } from '../lock/record.ts';
import type { DecidedGate, DecidedGraph } from './decided-graph.ts';
import type { Plan } from './plan.ts';
import { purchaseOf } from './purchase-of.ts';
import { isRedone } from './verdicts.ts';

/**
 * Lists the open gates of a plan that people can decide by what is there to see now. Not among them: one of whose steps too
 * few have an output, and one where too many are rejected. `graph`: that of the plan.
 */
export function gatesToDecide(
  plan: Pick<Plan, 'gates'>,
  { graph, lock, redo }: { graph: DecidedGraph; lock: Lock; redo: ReadonlySet<string> },
): DecidedGate[] {
  const open = new Set((plan.gates ?? []).map(({ name }) => name));
  const gates = graph.gates.filter(({ name }) => open.has(name));
  if (gates.length === 0) return [];
  const members = new Set(gates.flatMap((gate) => gate.members));
  const unseen = new Set<string>();
  for (const step of graph.steps) {
    const { address, fingerprint } = step;
    if (!members.has(address)) continue;
    const record = lock.steps.get(address);
    const isThere = record !== undefined && purchaseOf(record, fingerprint)?.state === 'done';
    if (!isThere || isRedone(step, redo)) unseen.add(address);
  }
  return gates.filter(({ state, choose, members: own }) => {
    if (state.is === 'contested') return true;
    return state.is === 'open' && state.toSee - own.filter((address) => unseen.has(address)).length >= choose;
  });
}
