import type { RunResult } from '../campaign/run.ts';
import type { SavedPlan } from '../campaign/saved-plan.ts';
import type { StepOutcome } from '../contract/event.ts';
import { type ExitAnswers, exitCodes } from '../contract/exit.ts';
import type { NextStep } from '../contract/failure.ts';
import { type Call, call } from '../ground/advice.ts';
import { hasWork, publishes } from '../plan/actions.ts';
import { isBought } from '../plan/consent.ts';
import { addressOf, type Plan, type PlanRow, type PlanTotals } from '../plan/plan.ts';
import { sumPrices } from '../plan/sum-up.ts';
import type { RunView } from '../report/run/run-view.ts';
import type { StatusView } from '../report/status/status.ts';
import { approving } from './consent.ts';
import type { ApplyOptions } from './open.ts';
import type { Terminal } from './terminal.ts';
import { applyingPlan, optionsLeft, postsWaiting, purchasesWaiting, showingCall } from './waiting.ts';

interface Context {
  file: string;
  options: ApplyOptions;
  saved?: SavedPlan | undefined;
  terminal: Pick<Terminal, 'paste'>;
}

export function nextOfPlan(plan: Plan, context: Context): NextStep[] {
  const step = stepsFor(context.terminal);
  const look = hasSomethingToPick(plan) ? [step(call('review'), { needs: 'person' })] : [];
  const publishing = plan.rows.some(publishes);
  if (!publishing && !plan.rows.some(isBought)) return [...(hasWork(plan) ? [step(call('apply'))] : []), ...look];
  const credits = mostOf(plan.totals);
  return [...agreeing({ credits, publishing }, context), ...look];
}

/** Next steps after a plan that the user refused. Nothing was done, and a saved plan need not be made again. */
export function nextOfRefusal(plan: Plan, context: Context): NextStep[] {
  const { file, options, saved } = context;
  const credits = mostOf(plan.totals);
  const out = saved === undefined ? {} : { out: saved.path };
  return agreeing(
    { credits, publishing: plan.rows.some(publishes) },
    { ...context, file, options: { ...options, ...out } },
  );
}

/** Returns the commands that give consent, and the next command. Sandbox credits need no consent. */
function agreeing(
  { credits, publishing }: { credits: number | null; publishing: boolean },
  { file, options, saved, terminal }: Context,
): NextStep[] {
  const step = stepsFor(terminal);
  if (options.sandbox === true)
    return [step(call('apply', '--yes', ...(publishing ? ['--publish'] : [])), { credits })];
  const saving = showingCall(file, options, saved);
  const path = options.out ?? saving.words.at(-1) ?? '';
  return [
    ...(options.out === undefined ? [step(saving)] : []),
    step(approving(path), { needs: 'person' }),
    step({ ...call('apply'), file: path, bare: true }, { credits }),
  ];
}

export function nextOfRun(
  { made, carriedOut, result }: { made: Plan; carriedOut: Plan; result: Pick<RunResult, 'exit' | 'outcomes'> },
  { view, ...context }: Context & { view: Pick<RunView, 'stepsByAddress'> },
): NextStep[] {
  const { options, saved, terminal } = context;
  const step = stepsFor(terminal);
  const { exit, outcomes } = result;
  const endsAs = (...wanted: StepOutcome[]) => [...outcomes].filter(([, outcome]) => wanted.includes(outcome));
  const unresolved = endsAs('unresolved').map(([id]) => id);
  // With `--on-unknown hold` another apply recovers nothing.
  const isRecoverable = (id: string) =>
    options.onUnknown !== 'hold' && view.stepsByAddress.get(id)?.recoverable === true;
  const [asked] = [
    ...unresolved.filter((id) => !isRecoverable(id)).map(addressOf),
    ...carriedOut.rows.flatMap(({ action, address }) => (action === 'unresolved' ? [address] : [])),
  ];
  const goesOn = unresolved.some(isRecoverable) || endsAs('running', 'lost', 'left').length > 0;
  const again = saved !== undefined && exit === exitCodes.interrupted ? applyingPlan(saved) : call('apply');
  const purchases = purchasesWaiting(carriedOut, made);
  const posts = postsWaiting(carriedOut, outcomes);
  const prices = sumPrices(purchases);
  const open = { credits: mostOf(prices), publishing: posts.length > 0 };
  const seen = { ...carriedOut, rows: carriedOut.rows.map((row) => asItEnded(row, outcomes)) };
  const waitsForPicks = hasSomethingToPick(seen);
  const isOver = carriedOut.rows.every(({ action }) => action !== 'failed') && endsAs('failed', 'refused').length === 0;
  return [
    ...(asked === undefined ? [] : [step(call('explain', asked), { needs: 'person' })]),
    ...(goesOn ? [step(again)] : []),
    ...(purchases.length + posts.length === 0
      ? []
      : agreeing(open, { ...context, options: optionsLeft(options, { purchases }) })),
    ...(waitsForPicks ? [step(call('review'), { needs: 'person' })] : []),
    ...(isOver && !waitsForPicks ? [] : [step(call('plan', '--json'))]),
  ];
}

function asItEnded(row: PlanRow, outcomes: ReadonlyMap<string, StepOutcome>): Pick<PlanRow, 'address' | 'action'> {
  const { address, action } = row;
  return { address, action: outcomes.get(address) === 'done' ? 'keep' : action };
}

export function nextOfStatus({ tasks, rows, gates = [] }: StatusView, terminal: Context['terminal']): NextStep[] {
  const step = stepsFor(terminal);
  const count = (...states: Parameters<typeof countStates>[1][]) => countStates(tasks, ...states);
  const asked = rows.find(({ state }) => state === 'unresolved');
  const isPaid = count('running', 'lost') > 0 || tasks.some(({ filesMissing }) => filesMissing > 0);
  return [
    ...(asked === undefined ? [] : [step(call('explain', asked.address), { needs: 'person' })]),
    ...(isPaid ? [step(call('apply'))] : []),
    ...(gates.length === 0 ? [] : [step(call('review'), { needs: 'person' })]),
    ...(count('not-bought', 'changed', 'failed') === 0 ? [] : [step(call('plan', '--json'))]),
  ];
}

/**
 * Returns the answers to the first questions of an automated caller: whether `apply` can continue alone, whether a user
 * is needed, and what was paid.
 */
export function answersOfStatus(
  { tasks, credits: { spent, held, heldUnknown } }: StatusView,
  next: readonly NextStep[],
): ExitAnswers {
  const isPaid = countStates(tasks, 'running', 'lost') > 0 || tasks.some(({ filesMissing }) => filesMissing > 0);
  return {
    again: isPaid ? 'same' : next.length > 0 ? 'changed' : 'never',
    person: next.some(({ needs }) => needs === 'person') || countStates(tasks, 'failed') > 0,
    paid:
      held + heldUnknown > 0 || countStates(tasks, 'unresolved') > 0 ? 'perhaps' : spent > 0 ? 'recorded' : 'nothing',
  };
}

function countStates(tasks: StatusView['tasks'], ...states: (keyof StatusView['tasks'][number]['states'])[]): number {
  return tasks.reduce((sum, task) => sum + states.reduce((own, state) => own + task.states[state], 0), 0);
}

function stepsFor({ paste }: Pick<Terminal, 'paste'>) {
  return (run: Call, { credits = 0, needs = null }: Partial<Omit<NextStep, 'command'>> = {}): NextStep => ({
    command: paste(run),
    credits,
    needs,
  });
}

function hasSomethingToPick({
  gates = [],
  rows,
}: Pick<Plan, 'gates'> & { rows: readonly Pick<PlanRow, 'address' | 'action'>[] }): boolean {
  const kept = new Set(rows.flatMap(({ address, action }) => (action === 'keep' ? [address] : [])));
  return gates.some(({ members }) => members.some((address) => kept.has(address)));
}

/** Returns the highest possible charge of the purchases, in credits. Null if a price cannot be estimated. */
function mostOf({ toSpend, ceiling }: Pick<PlanTotals, 'toSpend' | 'ceiling'>): number | null {
  return toSpend === null ? null : ceiling;
}
