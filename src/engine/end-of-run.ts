import type { RunFact, StepOutcome, StopReason } from '../contract/event.ts';
import { type ExitCode, exitCodes } from '../contract/exit.ts';
import { hasOpenSends } from '../lock/sends.ts';
import { spentCredits } from '../lock/spent.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import type { StepEnd } from '../run/step-end.ts';
import type { CarriedOut } from './carry-out.ts';

export interface EndOfRun {
  exit: ExitCode;
  /** How each step ended, by address. */
  outcomes: ReadonlyMap<string, StepOutcome>;
  end: Extract<RunFact, { event: 'run-ended' }>;
}

/** Facts reported by earlier leaders of this run. */
export interface EarlierHeads {
  /** Credits. */
  spent: number;
  /** Why one of them stopped all spending, if one did. */
  stopped: StopReason | undefined;
  hasStopped(because: StopReason): boolean;
  /** Balance of the account when one of them last knew it. */
  balance: number | null;
}

interface About {
  /** Plan as it was made: what is kept counts, and what waits. */
  plan: Plan;
  ends: ReadonlyMap<string, StepEnd>;
  carried: CarriedOut;
  interrupted: boolean;
  /** People have to look once more at what was made during the run. */
  needsPeople: boolean;
  /** Credits that jobs from before hold. */
  held: number;
  elapsedMs: number;
  /** Omitted when the whole run was carried out by this process. */
  earlier?: EarlierHeads;
}

/** Sums up a run: counts, credits, exit code. */
export function endOfRun({ plan, ends, carried, interrupted, needsPeople, held, elapsedMs, earlier }: About): EndOfRun {
  const { ledger, gate, driven } = carried;
  const outcomes = new Map([...ends].map(([name, { outcome }]) => [name, outcome]));
  // What stopped an earlier head is the reason for what nobody has carried out since.
  const isShort = [...outcomes.values()].some((outcome) => outcome !== 'done' && outcome !== 'unneeded');
  const before = isShort ? earlier : undefined;
  const exit = exitCodeOf({
    plan,
    outcomes: outcomes.values(),
    stopped: gate.stopped ?? before?.stopped,
    overBudget: ledger.overBudget || before?.hasStopped('budget') === true || before?.hasStopped('limit') === true,
    overPrice: gate.hasHeldPrices || before?.hasStopped('price') === true,
    hasOpenSends: hasOpenSends(ledger.lock),
    interrupted,
    hasDefects: driven.defects.length > 0,
    needsPeople,
  });
  const { result: estimated } = ledger.estimates;
  const unsaved = [...ends.values()].filter((step) => step.unsaved).length;
  const end: EndOfRun['end'] = {
    event: 'run-ended',
    exit,
    outcomes: count(outcomes.values()),
    ...(unsaved > 0 && { unsaved }),
    kept: plan.rows.filter(({ action }) => action === 'keep').length,
    spentNow: ledger.account.spentNow + (earlier?.spent ?? 0),
    // A job that another step has on record, too, is charged once: as plan, status and costs count it.
    spentEver: spentCredits(ledger.lock),
    held: ledger.account.held + held,
    balance: ledger.balance ?? earlier?.balance ?? null,
    elapsedMs,
    ...(estimated !== undefined && { estimated }),
  };
  return { exit, outcomes, end };
}

function count(outcomes: Iterable<StepOutcome>): { [outcome in StepOutcome]?: number } {
  const counts: { [outcome in StepOutcome]?: number } = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

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
  if (stopped === 'unreachable' || stopped === 'throttled') return exitCodes.unreachable;
  const fell: StepOutcome[] = ['failed', 'refused', 'lost', 'running', 'blocked', 'left'];
  if (fell.some((outcome) => seen.has(outcome)) || actions.has('failed') || blocked.length > waiting) {
    return exitCodes.someFailed;
  }
  return waiting > 0 || needsPeople ? exitCodes.waitsForPerson : exitCodes.done;
}
