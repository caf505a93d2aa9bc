import type { Json } from '../ground/json.ts';
import type { Paste } from './advice-text.ts';
import { sortDiagnostics } from './diagnostics/diagnostic-order.ts';
import { diagnosticJson } from './diagnostics/diagnostics-json.ts';
import { failureJson } from './failure-text.ts';
import type { WatchView } from './watch-text.ts';

/**
 * Renders what there is to say after a save, for programs, as `schemas/watch.schema.json` describes it. `changes` and
 * `totals` are those of `plan --compare --json` and `plan --json`.
 */
export function watchJson(view: WatchView, paste: Paste): Json {
  const { plan, difference, diagnostics, failure, notices, at, tookMs } = view;
  const actions: { [action: string]: number } = {};
  for (const { action } of plan?.rows ?? []) actions[action] = (actions[action] ?? 0) + 1;
  const json = {
    mediabatch: 'watch',
    version: 1,
    at: new Date(at).toISOString(),
    tookMs: Math.round(tookMs),
    valid: plan !== undefined,
    ...(plan !== undefined && {
      campaign: plan.campaign,
      steps: plan.rows.filter(({ action }) => action !== 'orphan').length,
      actions,
      totals: plan.totals,
    }),
    ...(difference !== undefined && {
      changes: difference.steps,
      others: difference.others,
      bought: difference.bought.map(({ id, address, credits }) => ({ id, address, credits })),
    }),
    diagnostics: sortDiagnostics(diagnostics).map(diagnosticJson),
    ...(failure !== undefined && { failure: failureJson(failure, paste) }),
    notices,
  };
  return json as unknown as Json;
}
