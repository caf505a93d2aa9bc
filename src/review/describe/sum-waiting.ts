import type { Graph } from '../../graph/graph.ts';
import type { PlanRow } from '../../plan/plan.ts';

/** What cannot be bought before a gate is decided. */
export interface Waiting {
  steps: number;
  /** What these cost at most; null: not known of one of them. */
  credits: number | null;
}

/**
 * Sums up by gate what its rows wait for, directly or through a step that they need. What waits for several gates counts
 * with each of them. `graph`: with its decisions applied.
 */
export function sumWaiting(graph: Graph, rows: readonly PlanRow[]): Map<string, Waiting> {
  const held = new Map(rows.flatMap((row) => (row.blockedBy === 'gate' ? [[row.address, row] as const] : [])));
  const gatesOf = new Map<string, readonly string[]>();
  const byName = new Map((graph.gates ?? []).map((gate) => [gate.name, gate]));
  const sums = new Map<string, Waiting>();
  // A step may need a gate: then what that asks about waits for other gates before it.
  const gatesBefore = (need: string): readonly string[] => {
    const gate = byName.get(need);
    const known = gatesOf.get(need);
    if (known !== undefined || gate === undefined) return known ?? [];
    const gates = [...new Set(gate.members.flatMap((member) => gatesOf.get(member) ?? []))];
    gatesOf.set(need, gates);
    return gates;
  };
  // Needs come first.
  for (const { address, waits = [], needs } of graph.steps) {
    const row = held.get(address);
    if (row === undefined) continue;
    const gates = [...new Set([...waits, ...needs.flatMap(gatesBefore)])];
    gatesOf.set(address, gates);
    for (const gate of gates) {
      const sum = sums.get(gate) ?? { steps: 0, credits: 0 };
      const cost = row.wouldCost === undefined ? 0 : row.wouldCost;
      sums.set(gate, {
        steps: sum.steps + 1,
        credits: sum.credits === null || cost === null ? null : sum.credits + cost,
      });
    }
  }
  return sums;
}
