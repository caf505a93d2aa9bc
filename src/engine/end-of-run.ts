import type { RunFact, StepOutcome, StopReason } from '../contract/event.ts';
import { type ExitCode, exitCodes } from '../contract/exit.ts';
import { defined } from '../ground/values.ts';
import { hasOpenSends, spentCredits } from '../lock/sends.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import type { StepEnd } from '../run/step-end.ts';
import type { CarriedOut } from './carry-out.ts';

/** Facts that earlier leaders reported about this run. */
interface EarlierLeaders {
  spent: number;
  stopped: StopReason | undefined;
  hasStopped(because: StopReason): boolean;
  balance: number | null;
}

interface About extends Pick<RunFindings, 'plan' | 'interrupted' | 'needsPeople'> {
  ends: ReadonlyMap<string, StepEnd>;
  carried: CarriedOut;
  /** Credits reserved for create requests of earlier runs that may have been charged. */
  held: number;
  elapsedMs: number;
  earlier?: EarlierLeaders;
}

interface EndOfRun {
  exit: ExitCode;
  outcomes: Map<string, StepOutcome>;
  end: Extract<RunFact, { event: 'run-ended' }>;
}

export function endOfRun(about: About): EndOfRun {
  const { plan, ends, carried, interrupted, needsPeople, held, elapsedMs, earlier } = about;
  const { ledger, gate, driven } = carried;
  const outcomes = new Map([...ends].map(([name, { outcome }]) => [name, outcome]));
  // The reason why an earlier leader stopped also explains why the remaining steps did not run.
  const isShort = [...outcomes.values()].some((outcome) => outcome !== 'done' && outcome !== 'unneeded');
  const before = isShort ? earlier : undefined;
  const exit = exitCodeOf({
    plan,
    outcomes: outcomes.values(),
    stopped: gate.stopped ?? before?.stopped,
    lacksCredits:
      ledger.overBudget ||
      gate.hasHeldPrices ||
      (['budget', 'limit', 'price'] as const).some((because) => before?.hasStopped(because) === true),
    hasOpenSends: hasOpenSends(ledger.lock),
    interrupted,
    hasDefects: driven.defects.length > 0,
    needsPeople,
  });
  const unsaved = [...ends.values()].filter((step) => step.unsaved).length;
  const end: EndOfRun['end'] = {
    event: 'run-ended',
    exit,
    outcomes: count(outcomes.values()),
    ...(unsaved > 0 && { unsaved }),
    kept: plan.rows.filter(({ action }) => action === 'keep').length,
    spentNow: ledger.account.spentNow + (earlier?.spent ?? 0),
    // A job that is recorded for two steps counts once, as in plan, status and costs.
    spentEver: spentCredits(ledger.lock),
    held: ledger.account.held + held,
    balance: ledger.balance ?? earlier?.balance ?? null,
    elapsedMs,
    ...defined({ estimated: ledger.estimates.result }),
  };
  return { exit, outcomes, end };
}

function count(outcomes: Iterable<StepOutcome>): { [outcome in StepOutcome]?: number } {
  const counts: { [outcome in StepOutcome]?: number } = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

interface RunFindings {
  plan: Plan;
  outcomes: Iterable<StepOutcome>;
  stopped: StopReason | undefined;
  /** True if a cap, or a charge above the plan, stopped purchases. */
  lacksCredits: boolean;
  hasOpenSends: boolean;
  interrupted: boolean;
  hasDefects: boolean;
  needsPeople: boolean;
}

/** Returns the exit code of a run. If several codes apply, returns the one that is most urgent for the user. */
export function exitCodeOf(findings: RunFindings): ExitCode {
  const { plan, outcomes, stopped, lacksCredits, hasOpenSends, interrupted, needsPeople } = findings;
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
  if (stopped === 'balance' || lacksCredits || unfunded) return exitCodes.outOfCredits;
  if (stopped === 'unreachable' || stopped === 'throttled') return exitCodes.unreachable;
  const fell: StepOutcome[] = ['failed', 'refused', 'lost', 'running', 'blocked', 'left'];
  if (fell.some((outcome) => seen.has(outcome)) || actions.has('failed') || blocked.length > waiting) {
    return exitCodes.someFailed;
  }
  return waiting > 0 || needsPeople ? exitCodes.waitsForPerson : exitCodes.done;
}
