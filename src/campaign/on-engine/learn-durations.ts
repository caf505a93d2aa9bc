import type { RunEvent } from '../../contract/event.ts';
import type { KeptDurations } from '../../contract/ports.ts';
import { kinds } from '../../kinds/index.ts';
import type { Plan } from '../../plan/plan.ts';
import { timedAs } from '../../plan/time-left.ts';
import { Durations } from '../../service/polling/durations.ts';

/**
 * Learns the durations of jobs from the events of a run, as a run in this process does from its polls. The next plan
 * uses them.
 */
export function learnDurations(
  { rows }: Pick<Plan, 'rows'>,
  known: KeptDurations,
): { on(event: RunEvent): void; keep(): KeptDurations } {
  const durations = new Durations(known);
  const orders = new Map(rows.flatMap(({ order }) => (order === undefined ? [] : [[order.address, order]])));
  const created = new Map<string, number>();
  return {
    on(event) {
      if (event.event === 'job-created') created.set(event.address, Date.parse(event.at));
      if (event.event !== 'job-completed') return;
      const from = created.get(event.address);
      const order = orders.get(event.address);
      const typicalMs = kinds[order?.kind ?? '']?.typicalMs;
      created.delete(event.address);
      if (from === undefined || order === undefined || typicalMs === undefined) return;
      // Two heads, with two clocks, may report the same job.
      durations.of({ kind: timedAs(order), typicalMs }).learn(Math.max(0, Date.parse(event.at) - from));
    },
    keep: () => durations.keep(),
  };
}
