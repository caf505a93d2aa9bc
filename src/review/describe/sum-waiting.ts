import type { ReviewWait } from '../../contract/review.ts';
import type { DecidedGraph } from '../../plan/decided-graph.ts';
import type { PlanRow } from '../../plan/plan.ts';

/**
 * Lists what cannot be bought before gates are decided, by the gates for which it waits, directly or through a step
 * that it needs: each step once.
 */
export function listWaits(graph: DecidedGraph, rows: readonly PlanRow[]): ReviewWait[] {
  const held = new Map(rows.flatMap((row) => (row.blockedBy === 'gate' ? [[row.address, row] as const] : [])));
  const gatesOf = new Map<string, readonly string[]>();
  const byName = new Map(graph.gates.map((gate) => [gate.name, gate]));
  const waits = new Map<string, ReviewWait>();
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
  for (const { address, waits: own = [], needs } of graph.steps) {
    const row = held.get(address);
    if (row === undefined) continue;
    const gates = [...new Set([...own, ...needs.flatMap(gatesBefore)])];
    gatesOf.set(address, gates);
    const name = JSON.stringify(gates);
    const { steps, credits, likely } = waits.get(name) ?? { steps: 0, credits: 0, likely: 0 };
    const cost = row.wouldCost === undefined ? 0 : row.wouldCost;
    waits.set(name, {
      gates,
      steps: steps + 1,
      credits: add(credits, cost),
      likely: add(likely, cost ?? row.price?.likely ?? null),
    });
  }
  return [...waits.values()].filter(({ gates }) => gates.length > 0);
}

/** Sums up what waits for each gate: what waits for several counts with each. Gates that hold nothing are left out. */
export function sumWaits(waits: readonly ReviewWait[]): Map<string, Omit<ReviewWait, 'gates'>> {
  const sums = new Map<string, Omit<ReviewWait, 'gates'>>();
  for (const { gates, steps, credits, likely } of waits) {
    for (const gate of gates) {
      const sum = sums.get(gate) ?? { steps: 0, credits: 0, likely: 0 };
      sums.set(gate, {
        steps: sum.steps + steps,
        credits: add(sum.credits, credits),
        likely: add(sum.likely, likely),
      });
    }
  }
  return sums;
}

function add(sum: number | null, more: number | null): number | null {
  return sum === null || more === null ? null : sum + more;
}
