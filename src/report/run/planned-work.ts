import { isWork, waitsFor } from '../../plan/actions.ts';
import type { Plan } from '../../plan/plan.ts';
import { mostStepsShown } from './run-view.ts';

export interface PlannedStep {
  address: string;
  task: string;
  /** Cost in this run, known or expected; null if unknown. */
  credits: number | null;
  /** Addresses of steps of this run that must end before it. */
  needs: readonly string[];
}

export interface PlannedTask {
  credits: number;
  /** Whether the sum contains expected or unknown prices. */
  isAbout: boolean;
  needs: readonly string[];
}

export interface PlannedWork {
  /** Steps in the plan's order. Empty when there are too many to show each. */
  steps: readonly PlannedStep[];
  tasks: ReadonlyMap<string, PlannedTask>;
}

export const nothingPlanned: PlannedWork = { steps: [], tasks: new Map() };

export function plannedWork(plan: Plan): PlannedWork {
  const rows = plan.rows.filter(({ action }) => action !== 'keep' && action !== 'orphan');
  const work = rows.filter(isWork);
  const taskOf = new Map(work.map(({ address, task }) => [address, task]));
  const tasks = new Map<string, { credits: number; isAbout: boolean; needs: Set<string> }>();
  for (const { task, credits, price, order } of work) {
    const planned = tasks.get(task) ?? { credits: 0, isAbout: false, needs: new Set<string>() };
    tasks.set(task, planned);
    planned.credits += credits ?? price?.likely ?? 0;
    planned.isAbout ||= credits === null;
    for (const need of order === undefined ? [] : waitsFor(order)) {
      const other = taskOf.get(need);
      if (other !== undefined && other !== task) planned.needs.add(other);
    }
  }
  const steps = rows.length > mostStepsShown ? [] : rows;
  return {
    steps: steps.map(({ address, task, credits, price, order }) => ({
      address,
      task,
      credits: credits ?? price?.likely ?? null,
      needs: (order === undefined ? [] : waitsFor(order)).filter((need) => taskOf.has(need)),
    })),
    tasks: new Map([...tasks].map(([id, { needs, ...task }]) => [id, { ...task, needs: [...needs] }])),
  };
}
