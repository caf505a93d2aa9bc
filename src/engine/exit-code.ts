import type { StepOutcome, StopReason } from '../contract/event.ts';
import { type ExitCode, exitCodes } from '../contract/exit.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';

export interface RunFindings {
  plan: Plan;
  outcomes: Iterable<StepOutcome>;
  stopped: StopReason | undefined;
  overBudget: boolean;
  /** Something was not bought, because its price was charged more than the plan says. */
  overPrice: boolean;
  /** Something may have been charged, and nobody knows yet: in the manifest or not. */
  hasOpenSends: boolean;
  interrupted: boolean;
  /** A mistake of ours has ended a step. */
  hasDefects: boolean;
  /** People have to look once more at what was made during the run. */
  needsPeople: boolean;
}

/** Exit code of a run. Of several reasons, the one that most needs a person wins. */
export function exitCodeOf(findings: RunFindings): ExitCode {
  const { plan, outcomes, stopped, overBudget, overPrice, hasOpenSends, interrupted, needsPeople } = findings;
  const seen = new Set(outcomes);
  const actions = new Set(plan.rows.map(({ action }) => action));
  const unfunded = plan.rows.some(({ blockedBy }) => blockedBy === 'budget');
  const blocked = plan.rows.filter(({ action }) => action === 'blocked');
  const people: PlanRow['blockedBy'][] = ['consent', 'gate', 'newer'];
  const waiting = blocked.filter(({ blockedBy }) => people.includes(blockedBy)).length;
  if (interrupted) return exitCodes.interrupted;
  if (findings.hasDefects) return exitCodes.internalError;
  if (stopped === 'disk') return exitCodes.cannotWrite;
  if (stopped === 'auth') return exitCodes.keyRefused;
  if (hasOpenSends || seen.has('unresolved') || actions.has('unresolved')) return exitCodes.needsDecision;
  if (stopped === 'balance' || overBudget || overPrice || unfunded) return exitCodes.outOfCredits;
  if (stopped === 'unreachable') return exitCodes.unreachable;
  const fell: StepOutcome[] = ['failed', 'refused', 'lost', 'running', 'blocked', 'left'];
  if (fell.some((outcome) => seen.has(outcome)) || actions.has('failed') || blocked.length > waiting) {
    return exitCodes.someFailed;
  }
  return waiting > 0 || needsPeople ? exitCodes.waitsForPerson : exitCodes.done;
}
