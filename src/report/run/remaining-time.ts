import { isSpending, waitsFor } from '../../plan/actions.ts';
import type { Plan, StepOrder } from '../../plan/plan.ts';
import { type Durations, expectEnd, type OpenStep, samplesOf, timedAs } from '../../plan/time-left.ts';
import type { Remaining, RunTimes } from './run-time.ts';
import { hasEnded, type RunView, sinceOf } from './run-view.ts';

export interface RunTimesOptions {
  view: RunView;
  /** Returns the plan as it is carried out by now: users may decide during a run. */
  plan(): Pick<Plan, 'rows' | 'concurrency'>;
  /** Durations of jobs of earlier runs. */
  durations: Durations;
  /** Milliseconds since 1970. */
  now(): number;
}

/** A range that changes more often is not read. */
const lastsMs = 5000;
/** Time to fetch a file whose job ended before. */
const fetchMs = 1000;

/**
 * Expects the end of a run from durations of earlier jobs and of those that ended in this run. It is computed when it is
 * shown, and never otherwise.
 */
export function createRunTimes(options: RunTimesOptions): Required<RunTimes> {
  const { view, now } = options;
  let shown: { at: number; remaining: Remaining | undefined } | undefined;
  let usual: { at: number; byAddress: ReadonlyMap<string, number> } | undefined;
  return {
    remaining() {
      if (isSilent(view)) return undefined;
      if (shown === undefined || now() - shown.at >= lastsMs) shown = { at: now(), remaining: expectRest(options) };
      return shown.remaining;
    },
    shown: () => (isSilent(view) ? undefined : shown?.remaining),
    usual(address) {
      if (usual === undefined || now() - usual.at >= lastsMs) usual = { at: now(), byAddress: medians(options) };
      return usual.byAddress.get(address);
    },
  };
}

/** The run waits, or ends for another reason than that its work is done. */
function isSilent({ campaign, end, awaited, awaitedGates, stopped }: RunView): boolean {
  if (campaign === '' || end !== undefined || stopped?.because === 'signal') return true;
  return awaited !== undefined || awaitedGates !== undefined;
}

function expectRest({ view, now, durations, ...options }: RunTimesOptions): Remaining | undefined {
  const plan = options.plan();
  const samples = samplesByName(plan, { view, durations });
  const fetched = [fetchMs];
  const steps = new Map<string, OpenStep>();
  let isLate = true;
  let isRunning = false;
  for (const { order } of plan.rows) {
    if (order === undefined || order.asksOnly) continue;
    const seen = view.stepsByAddress.get(order.address);
    if (view.settled.addresses.has(order.address) || !isOpen(view, seen)) continue;
    const known = hasJob(order) && seen?.stage !== 'saving' ? (samples.get(timedAs(order)) ?? []) : fetched;
    const longest = known.at(-1);
    if (longest === undefined) return 'unknown';
    const after = waitsFor(order).flatMap((need) => steps.get(need) ?? []);
    // The machine that reports it may have another clock.
    const ageMs = seen?.begunAt === undefined ? undefined : Math.max(0, now() - (sinceOf(seen) ?? now()));
    steps.set(order.address, { samples: known, after, ...(ageMs !== undefined && { ageMs }) });
    if (ageMs === undefined || known === fetched) continue;
    isRunning = true;
    isLate &&= ageMs > longest;
  }
  if (steps.size === 0) return undefined;
  return isRunning && isLate ? 'overdue' : expectEnd([...steps.values()], plan.concurrency);
}

/** Returns the usual duration of each job, by address. */
function medians({ plan, ...options }: RunTimesOptions): Map<string, number> {
  const { rows } = plan();
  const samples = samplesByName({ rows }, options);
  const known = rows.flatMap(({ address, order }): [string, number][] => {
    const like = order !== undefined && hasJob(order) ? samples.get(timedAs(order)) : undefined;
    const median = like?.[like.length >> 1];
    return median === undefined ? [] : [[address, median]];
  });
  return new Map(known);
}

function hasJob({ action, sharesJobOf }: StepOrder): boolean {
  return action === 'attach' || (isSpending(action) && sharesJobOf === undefined);
}

function isOpen({ stopped }: RunView, seen: ReturnType<RunView['stepsByAddress']['get']>): boolean {
  if (seen?.begunAt !== undefined) return !hasEnded(seen.stage);
  return stopped === undefined || stopped.because === 'price' || stopped.because === 'alike';
}

/** Returns the durations of jobs by kind and model, ascending: those of earlier runs, and those of this run's tasks. */
function samplesByName(
  { rows }: Pick<Plan, 'rows'>,
  { view, durations }: Pick<RunTimesOptions, 'view' | 'durations'>,
): ReadonlyMap<string, readonly number[]> {
  const tasks = new Map<string, { order: StepOrder; names: Set<string> }>();
  for (const { order, task } of rows) {
    if (order === undefined || !hasJob(order)) continue;
    const name = timedAs(order);
    const timed = tasks.get(name) ?? { order, names: new Set() };
    tasks.set(name, timed);
    timed.names.add(task);
  }
  return new Map(
    [...tasks].map(([name, { order, names }]) => {
      const seen = [...names].flatMap((task) => view.tasks.get(task)?.tookMs ?? []);
      const known = seen.length > 0 ? [...(durations[name] ?? []), ...seen] : samplesOf(order, durations);
      return [name, known.toSorted((a, b) => a - b)];
    }),
  );
}
