import type { RunTime } from '../../contract/event.ts';
import { groupBy } from '../../ground/values.ts';
import { isSpending, waitsFor } from '../../plan/actions.ts';
import type { Plan, StepOrder } from '../../plan/plan.ts';
import { type Durations, expectEnd, type OpenStep, samplesOf, timedAs } from '../../plan/time-left.ts';
import { hasEnded, isPartial, type RunView, type StepView } from './run-view.ts';

/** `unknown`: for some kind of job, the duration is unknown. `overdue`: all running jobs take longer than expected. */
export type Remaining = NonNullable<RunTime['remaining']>;

/** Returns undefined while there is no estimate, for example while a run waits for credits. */
export type RunTimes = () => Remaining | undefined;

interface RunTimesOptions {
  view: RunView;
  plan(): Pick<Plan, 'rows' | 'concurrency'>;
  durations: Durations;
  now(): number;
}

/** Minimum display time of an estimate in ms, so that users can read it. */
const lastsMs = 5000;
/** Expected duration in ms of the download of a finished job's file. */
const fetchMs = 1000;

export function createRunTimes(options: RunTimesOptions): RunTimes {
  const { view, now } = options;
  let shown: { at: number; remaining: Remaining | undefined } | undefined;
  return () => {
    if (isSilent(view)) return undefined;
    if (shown === undefined || now() - shown.at >= lastsMs) shown = { at: now(), remaining: estimateRest(options) };
    return shown.remaining;
  };
}

function isSilent({ campaign, end, awaited, awaitedGates, stopped }: RunView): boolean {
  if (campaign === '' || end !== undefined || stopped?.because === 'signal') return true;
  return awaited !== undefined || awaitedGates !== undefined;
}

function estimateRest({ view, plan, durations, now }: RunTimesOptions): Remaining | undefined {
  const { rows, concurrency } = plan();
  const orders = rows.flatMap(({ order }) => (order === undefined || order.asksOnly ? [] : [order]));
  const samples = samplesByName(orders, { view, durations });
  const fetched = [fetchMs];
  const open = new Map<string, OpenStep>();
  let isLate = true;
  let isRunning = false;
  for (const order of orders) {
    const seen = view.stepsByAddress.get(order.address);
    if (view.settled.has(order.address) || !isOpen(view, seen)) continue;
    const makes = hasJob(order) && seen?.stage !== 'saving';
    const known = makes ? (samples.get(timedAs(order)) ?? []) : fetched;
    const longest = known.at(-1);
    if (longest === undefined) return 'unknown';
    const step: OpenStep = { samples: known, after: waitsFor(order).flatMap((need) => open.get(need) ?? []) };
    open.set(order.address, step);
    if (seen?.begunAt === undefined) continue;
    // Events may come from a machine whose clock is ahead.
    step.ageMs = Math.max(0, now() - (sinceOf(seen) ?? now()));
    if (!makes) continue;
    isRunning = true;
    isLate &&= step.ageMs > longest;
  }
  if (open.size === 0) return undefined;
  return isRunning && isLate ? 'overdue' : expectEnd([...open.values()], concurrency);
}

function hasJob({ action, sharesJobOf }: StepOrder): boolean {
  return action === 'attach' || (isSpending(action) && sharesJobOf === undefined);
}

function isOpen({ stopped }: RunView, seen: ReturnType<RunView['stepsByAddress']['get']>): boolean {
  if (seen?.begunAt !== undefined) return !hasEnded(seen.stage);
  return stopped === undefined || isPartial(stopped.because);
}

function samplesByName(
  orders: readonly StepOrder[],
  { view, durations }: Pick<RunTimesOptions, 'view' | 'durations'>,
): ReadonlyMap<string, readonly number[]> {
  return new Map(
    [...groupBy(orders.filter(hasJob), timedAs)].flatMap(([name, own]) => {
      const [first] = own;
      if (first === undefined) return [];
      const seen = [...new Set(own.map(({ task }) => task))].flatMap((task) => view.tasks.get(task)?.tookMs ?? []);
      const known = seen.length > 0 ? [...(durations[name] ?? []), ...seen] : samplesOf(first, durations);
      return [[name, known.toSorted((a, b) => a - b)] as const];
    }),
  );
}

function sinceOf({ begunAt, createdAt, madeAt }: StepView): number | undefined {
  return madeAt ?? createdAt ?? begunAt;
}
