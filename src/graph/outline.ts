import type { Graph } from './graph.ts';

/** What a run has to know of a graph. The rest of it takes as much memory as everything that a run keeps in mind. */
export interface GraphOutline {
  /** Tasks in the order in which they are written. */
  tasks: { id: string; kind: string; steps: number }[];
  /** Of all steps. */
  addresses: ReadonlySet<string>;
}

export function outlineOf({ tasks, steps }: Graph): GraphOutline {
  return {
    tasks: tasks.map(({ id, kind, steps: count }) => ({ id, kind, steps: count })),
    addresses: new Set(steps.map(({ address }) => address)),
  };
}
