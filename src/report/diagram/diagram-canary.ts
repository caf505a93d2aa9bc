import type { Graph } from '../../graph/graph.ts';
import type { Plan } from '../../plan/plan.ts';

/** The first steps of a task go alone. `open`: the others wait for them; `proven`: nothing waits any more. */
export interface CanaryMark {
  /** Condition that the others wait for: that these are done and fit, or that people have picked them. */
  rule: 'check' | 'ask';
  state: 'open' | 'proven';
}

/** The marks of nodes, by task or, of those steps that go first in the next run, by address. */
export function findCanaryMarks(
  { canaries = [] }: Graph,
  { rows, gates = [] }: Pick<Plan, 'rows' | 'gates'>,
  by: 'task' | 'step',
): ReadonlyMap<string, CanaryMark> {
  if (canaries.length === 0) return new Map();
  const rules = new Map(canaries.map(({ task, asks }) => [task, asks ? ('ask' as const) : ('check' as const)]));
  const asked = gates.filter(({ is }) => is === 'canary');
  if (by === 'step') {
    const first = rows.flatMap(({ address, task, canary }) => (canary === true ? [{ address, task }] : []));
    const toSee = asked.flatMap(({ task, members }) => members.map((address) => ({ address, task })));
    return new Map(
      [...first, ...toSee].map(({ address, task }) => [address, { rule: rules.get(task) ?? 'check', state: 'open' }]),
    );
  }
  const waiting = rows.filter(({ canaries: own, reason }) => own !== undefined || reason.code === 'canary');
  const open = new Set([...waiting, ...asked].map(({ task }) => task));
  return new Map([...rules].map(([task, rule]) => [task, { rule, state: open.has(task) ? 'open' : 'proven' }]));
}
