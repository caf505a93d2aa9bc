import type { RunTime } from '../../contract/event.ts';
import { defined } from '../../ground/values.ts';
import { isSpending, waitsFor } from '../../plan/actions.ts';
import type { Plan, StepOrder } from '../../plan/plan.ts';
import { type Durations, expectEnd, type OpenStep, samplesOf, timedAs } from '../../plan/time-left.ts';
import { hasEnded, isPartial, type RunView, sinceOf } from './run-view.ts';

/** Remaining time. `unknown`: a kind has no duration. `overdue`: the run should have ended by now. */
export type Remaining = NonNullable<RunTime['remaining']>;

export interface RunTimes {
  /** Undefined while no time can be given, for example while a run waits for credits. */
  remaining?(): Remaining | undefined;
  /** Last result of `remaining`, without a new computation. */
  shown?(): Remaining | undefined;
}

interface RunTimesOptions {
  view: RunView;
  /** Returns the plan as it is carried out now, because users may decide during a run. */
  plan(): Pick<Plan, 'rows' | 'concurrency'>;
  durations: Durations;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Shortest time in ms for which a range is shown, because a faster one cannot be read. */
const lastsMs = 5000;
/** Expected time in ms to download the file of a job that ended before. */
const fetchMs = 1000;

/** Estimates the remaining time from durations of earlier jobs and of jobs of this run. Computed only when shown. */
export function createRunTimes(options: RunTimesOptions): Required<RunTimes> {
  const { view, now } = options;
  let known: PlannedTime | undefined;
  let shown: { at: number; remaining: Remaining | undefined } | undefined;
  const planned = () => {
    const plan = options.plan();
    if (known?.plan !== plan) known = plannedTime(plan);
    return known;
  };
  return {
    remaining() {
      if (isSilent(view)) return undefined;
      if (shown === undefined || now() - shown.at >= lastsMs) {
        shown = { at: now(), remaining: expectRest(planned(), options) };
      }
      return shown.remaining;
    },
    shown: () => (isSilent(view) ? undefined : shown?.remaining),
  };
}

function isSilent({ campaign, end, awaited, awaitedGates, stopped }: RunView): boolean {
  if (campaign === '' || end !== undefined || stopped?.because === 'signal') return true;
  return awaited !== undefined || awaitedGates !== undefined;
}

interface PlannedStep {
  address: string;
  /** Kind and model of the job. Omitted if the step only saves a file. */
  name?: string;
  /** Indices of the steps that it waits for, all before its own. */
  needs: readonly number[];
}

interface PlannedTime {
  plan: Pick<Plan, 'rows' | 'concurrency'>;
  steps: readonly PlannedStep[];
  /** Jobs by kind and model: a sample order, and the tasks with such jobs. */
  jobs: ReadonlyMap<string, { order: StepOrder; tasks: Set<string> }>;
}

function plannedTime(plan: PlannedTime['plan']): PlannedTime {
  const places = new Map<string, number>();
  const steps: PlannedStep[] = [];
  const jobs = new Map<string, { order: StepOrder; tasks: Set<string> }>();
  for (const { order } of plan.rows) {
    if (order === undefined || order.asksOnly) continue;
    const needs = waitsFor(order).flatMap((need) => places.get(need) ?? []);
    places.set(order.address, steps.length);
    const name = hasJob(order) ? timedAs(order) : undefined;
    steps.push({ address: order.address, needs, ...defined({ name }) });
    if (name === undefined) continue;
    const known = jobs.get(name) ?? { order, tasks: new Set() };
    jobs.set(name, known);
    known.tasks.add(order.task);
  }
  return { plan, steps, jobs };
}

function expectRest(planned: PlannedTime, { view, now, durations }: RunTimesOptions): Remaining | undefined {
  const samples = samplesByName(planned, { view, durations });
  const fetched = [fetchMs];
  const open: OpenStep[] = [];
  const byPlace: (OpenStep | undefined)[] = [];
  let isLate = true;
  let isRunning = false;
  for (const [place, { address, name, needs }] of planned.steps.entries()) {
    const seen = view.stepsByAddress.get(address);
    if (view.settled.has(address) || !isOpen(view, seen)) continue;
    const known = name !== undefined && seen?.stage !== 'saving' ? (samples.get(name) ?? []) : fetched;
    const longest = known.at(-1);
    if (longest === undefined) return 'unknown';
    const step: OpenStep = { samples: known, after: needs.flatMap((need) => byPlace[need] ?? []) };
    byPlace[place] = step;
    open.push(step);
    if (seen?.begunAt === undefined) continue;
    // The machine that reports the time may have another clock.
    step.ageMs = Math.max(0, now() - (sinceOf(seen) ?? now()));
    if (known === fetched) continue;
    isRunning = true;
    isLate &&= step.ageMs > longest;
  }
  if (open.length === 0) return undefined;
  return isRunning && isLate ? 'overdue' : expectEnd(open, planned.plan.concurrency);
}

function hasJob({ action, sharesJobOf }: StepOrder): boolean {
  return action === 'attach' || (isSpending(action) && sharesJobOf === undefined);
}

function isOpen({ stopped }: RunView, seen: ReturnType<RunView['stepsByAddress']['get']>): boolean {
  if (seen?.begunAt !== undefined) return !hasEnded(seen.stage);
  return stopped === undefined || isPartial(stopped.because);
}

/** Returns durations of jobs by kind and model, ascending: of earlier runs and of this run. */
function samplesByName(
  { jobs }: PlannedTime,
  { view, durations }: Pick<RunTimesOptions, 'view' | 'durations'>,
): ReadonlyMap<string, readonly number[]> {
  return new Map(
    [...jobs].map(([name, { order, tasks }]) => {
      const seen = [...tasks].flatMap((task) => view.tasks.get(task)?.tookMs ?? []);
      const known = seen.length > 0 ? [...(durations[name] ?? []), ...seen] : samplesOf(order, durations);
      return [name, known.toSorted((a, b) => a - b)];
    }),
  );
}
