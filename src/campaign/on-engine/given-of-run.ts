import type { RunHeader } from '../../cluster/runs/run-record.ts';
import type { Graph } from '../../graph/graph.ts';
import { canonicalJson, type Json } from '../../ground/json.ts';
import type { ApplyGraphOptions } from '../apply-options.ts';
import { findGiven, flagOf } from '../options.ts';
import { digestOfSteps } from '../save-plan.ts';

/** Steps and options of a run, as far as they are compared with those of a client that attaches to it. */
export type GivenOfRun = NonNullable<RunHeader['given']>;

export function givenOf(graph: Graph, options: Partial<ApplyGraphOptions>): GivenOfRun {
  const found = findGiven(options, ({ settles }) => settles === 'plan' || settles === 'run');
  const flags = found.map(({ row, value }) => [flagOf(row), value as Json] as const);
  const given = [...flags, ['the saved plan', options.saved?.path ?? false] as const].filter(
    ([, value]) => value !== false && !(Array.isArray(value) && value.length === 0),
  );
  return { steps: digestOfSteps(graph), options: Object.fromEntries(given) };
}

export function differencesFrom(then: GivenOfRun, now: GivenOfRun): { isEdited: boolean; flags: string[] } {
  const flags = Object.entries(now.options).flatMap(([flag, value]) => {
    const before = then.options[flag];
    return before !== undefined && canonicalJson(before) === canonicalJson(value) ? [] : [flag];
  });
  return { isEdited: then.steps !== now.steps, flags };
}

/** Notice for a client that attaches: its options and edits that the run does not have. Undefined if there are none. */
export function notOfRunText({ isEdited, flags }: ReturnType<typeof differencesFrom>): string | undefined {
  const parts = [...(isEdited ? ['what has been changed in the campaign since'] : []), ...flags];
  if (parts.length === 0) return undefined;
  return `not part of that run, which goes on as it was submitted: ${parts.join(', ')}`;
}
