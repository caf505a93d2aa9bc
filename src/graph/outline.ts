import type { Graph } from './graph.ts';

/** The part of a graph that a run needs. The rest takes as much memory as everything else that a run holds. */
export interface GraphOutline {
  /** Tasks in the order in which they are written. */
  tasks: { id: string; kind: string; steps: number }[];
  /** The addresses of all steps. */
  addresses: ReadonlySet<string>;
}

export function outlineOf({ tasks, steps }: Graph): GraphOutline {
  return {
    tasks: tasks.map(({ id, kind, steps: count }) => ({ id, kind, steps: count })),
    addresses: new Set(steps.map(({ address }) => address)),
  };
}
