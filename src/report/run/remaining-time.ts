import type { RunEvent } from '../../contract/event.ts';
import { kinds } from '../../kinds/index.ts';
import { isSpending, waitsFor } from '../../plan/actions.ts';
import { asSeen, type Distribution, doubtOf, estimate } from '../../plan/distribution.ts';
import type { Plan, StepOrder } from '../../plan/plan.ts';
import {
  type Durations,
  type OpenStep,
  rangeOf,
  samplesOf,
  simulateEnds,
  type Timing,
  timedAs,
} from '../../plan/simulate-ends.ts';
import type { Remaining, RunTimes } from './run-time.ts';
import { hasEnded, type RunView, sinceOf } from './run-view.ts';

export interface RunTimesOptions {
  view: RunView;
  /** Returns the plan as it is carried out by now: people may decide during a run. */
  plan(): Pick<Plan, 'rows' | 'concurrency' | 'gates'>;
  /** Durations of jobs of earlier runs. */
  durations: Durations;
  /** Milliseconds since 1970. */
  now(): number;
  /** People decide during the run: then it goes on beyond its gates. */
  isLive?: boolean;
}

const draws = 64;
/** A range that changes more often is not read. */
const lastsMs = 5000;
const fewestKnown = 5;
/** Most samples: as many as are kept between runs, and then those of this run. */
const mostSamples = 300;
const mostPauses = 50;
/** Time for saving a file of which nothing is known yet. */
const usualSaveMs = 1000;

/** A step of the plan that is carried out. */
interface PlannedStep {
  timing: Timed;
  needs: readonly string[];
}

/** A step that has not ended. `begun`: it has a slot and no job. */
interface OpenTimed extends PlannedStep {
  stage: 'waiting' | 'begun' | 'running' | 'saving';
  since: number;
}

/** Steps of one kind and model, as timed by earlier runs and this one. */
interface Timed {
  /** Durations of jobs, in ms, newest last. */
  samples: number[];
  /** Takes a moment, whether or not it was ever timed. */
  isShort: boolean;
  starts: number[];
  saves: number[];
  done: number;
  failed: number;
  jobs?: Distribution;
}

/**
 * Expects the end of a run: what is left is simulated with the durations of earlier jobs and of those that this run has
 * seen end. Hears each event once, folded into the view before.
 */
export function createRunTimes(options: RunTimesOptions): Required<RunTimes> & { on(event: RunEvent): void } {
  const { now, durations, view } = options;
  const timings = new Map<string, Timed>();
  let steps = new Map<string, PlannedStep>();
  let known: ReturnType<RunTimesOptions['plan']> | undefined;
  let isInterrupted = false;
  let told: { at: number; remaining: Remaining | undefined } | undefined;

  const timingOf = (order: StepOrder): Timed => {
    const isBought = isSpending(order.action) && order.sharesJobOf === undefined;
    const hasJob = isBought || order.action === 'attach';
    const name = hasJob ? timedAs(order) : ' saving';
    let timing = timings.get(name);
    if (timing === undefined) {
      const samples = hasJob ? [...samplesOf(order, durations)] : [usualSaveMs];
      const isShort = !hasJob || kinds[order.kind]?.media === 'none';
      timing = { samples, isShort, starts: [], saves: [], done: 0, failed: 0 };
      timings.set(name, timing);
    }
    return timing;
  };

  /** Takes in a plan that was made anew: what has begun stays as it is. */
  const takeIn = (plan: NonNullable<typeof known>) => {
    known = plan;
    steps = new Map([...steps].filter(([address]) => stageOf(view, address) !== 'waiting'));
    for (const { order } of plan.rows) {
      if (order === undefined || order.asksOnly || steps.has(order.address)) continue;
      steps.set(order.address, { timing: timingOf(order), needs: waitsFor(order) });
    }
  };

  const look = (): Remaining | undefined => {
    const plan = options.plan();
    if (plan !== known) takeIn(plan);
    const open = openSteps(steps, view, now());
    if (open.size === 0) return undefined;
    const used = new Set<Timed>();
    for (const { timing, stage } of open.values()) if (stage !== 'saving') used.add(timing);
    if ([...used].some(({ isShort, samples }) => !isShort && samples.length < fewestKnown)) return 'unknown';
    for (const timing of used) timing.jobs = estimate(asSeen(timing.samples), agesOf(open, timing, now()));
    if (isOverdue(open, now())) return 'overdue';
    const groups = openGroups(plan, open, options.isLive === true);
    if (groups === 'ripe') return undefined;
    const { lowMs, highMs } = rangeOf(simulate(open, { now: now(), slots: plan.concurrency, groups }));
    const range = { low: lowMs / 1000, high: highMs / 1000 };
    return groups === undefined ? range : { ...range, until: 'gate' };
  };

  return {
    on(event) {
      if (event.event === 'spending-stopped' && event.because === 'signal') isInterrupted = true;
      if (event.event === 'step-started' && !steps.has(event.address)) takeIn(options.plan());
      if ('address' in event && event.address !== undefined) learn(steps.get(event.address)?.timing, event, view);
    },
    remaining() {
      if (isInterrupted || view.campaign === '' || view.end !== undefined) return undefined;
      if (view.awaited !== undefined || view.awaitedGates !== undefined) return undefined;
      if (told === undefined || now() - told.at >= lastsMs) told = { at: now(), remaining: look() };
      return told.remaining;
    },
    usual(address) {
      const timing = steps.get(address)?.timing;
      if (timing === undefined || timing.isShort || timing.samples.length < fewestKnown) return undefined;
      timing.jobs ??= estimate(asSeen(timing.samples));
      return timing.jobs.quantile(0.5);
    },
  };
}

/** Learns from how long it took a step to get as far as this event says. */
function learn(timing: Timed | undefined, event: RunEvent, view: RunView): void {
  if (timing === undefined) return;
  const at = Date.parse(event.at);
  switch (event.event) {
    case 'job-created': {
      const { begunAt = at } = view.stepsByAddress.get(event.address) ?? {};
      keep(timing.starts, at - begunAt, mostPauses);
      return;
    }
    case 'job-completed': {
      const { createdAt, madeAt } = view.stepsByAddress.get(event.address) ?? {};
      if (createdAt !== undefined && madeAt === at) keep(timing.samples, at - createdAt, mostSamples);
      return;
    }
    case 'step-finished': {
      const { outcome, address } = event;
      if (view.lastEnded?.address !== address) return;
      const { madeAt, isAttached } = view.lastEnded;
      if (outcome === 'failed' || outcome === 'lost' || outcome === 'refused') timing.failed += 1;
      if (outcome !== 'done') return;
      timing.done += 1;
      const took = at - (sinceOf(view.lastEnded) ?? at);
      if (madeAt !== undefined) keep(timing.saves, took, mostPauses);
      else if (!isAttached) keep(timing.samples, took, mostSamples);
      return;
    }
    default:
      return;
  }
}

function keep(numbers: number[], number: number, most: number): void {
  numbers.push(number);
  if (numbers.length > most) numbers.shift();
}

/** The steps of the plan that have not ended, and can still begin. */
function openSteps(steps: ReadonlyMap<string, PlannedStep>, view: RunView, now: number): Map<string, OpenTimed> {
  const because = view.stopped?.because;
  const isStopped = because !== undefined && because !== 'price' && because !== 'alike';
  const open = new Map<string, OpenTimed>();
  for (const [address, step] of steps) {
    const stage = stageOf(view, address);
    if (stage === 'ended' || (isStopped && stage === 'waiting')) continue;
    const seen = view.stepsByAddress.get(address);
    // Whoever tells of it may have another clock.
    const since = Math.min(now, (seen && sinceOf(seen)) ?? now);
    open.set(address, { ...step, stage, since });
  }
  return open;
}

function stageOf({ settled, stepsByAddress }: RunView, address: string): OpenTimed['stage'] | 'ended' {
  const step = stepsByAddress.get(address);
  if (step?.begunAt === undefined) return settled.addresses.has(address) ? 'ended' : 'waiting';
  if (hasEnded(step.stage)) return 'ended';
  if (step.stage === 'saving') return 'saving';
  return step.stage === 'running' || step.isAttached ? 'running' : 'begun';
}

type OpenSteps = ReadonlyMap<string, OpenTimed>;

function agesOf(open: OpenSteps, timing: Timed, now: number): number[] {
  return [...open.values()].flatMap((step) =>
    step.timing === timing && step.stage === 'running' ? [now - step.since] : [],
  );
}

/** Every job under way takes longer than any like it. */
function isOverdue(open: OpenSteps, now: number): boolean {
  const running = [...open.values()].filter(({ stage }) => stage === 'running');
  return (
    running.length > 0 &&
    running.every(({ timing, since }) => !timing.isShort && now - since > Math.max(...timing.samples))
  );
}

/**
 * Open steps of each gate that is to come. `ripe`: one already waits for people, so that the rest is up to them.
 * Undefined: the run ends without them.
 */
function openGroups(
  { gates = [] }: Pick<Plan, 'gates'>,
  open: OpenSteps,
  isLive: boolean,
): string[][] | 'ripe' | undefined {
  if (!isLive) return undefined;
  const waiting = gates.filter(({ state, waiting }) => state !== 'rejected' && waiting > 0);
  if (waiting.length === 0) return undefined;
  const groups = waiting.map(({ members }) => members.filter((address) => open.has(address)));
  return groups.some((members) => members.length === 0) ? 'ripe' : groups;
}

function simulate(
  open: OpenSteps,
  { now, slots, groups }: { now: number; slots: number; groups: string[][] | undefined },
): number[] {
  const timings = new Map<Timed, Timing>();
  const timingOf = (timed: Timed) => {
    const timing = timings.get(timed) ?? timingFrom(timed);
    timings.set(timed, timing);
    return timing;
  };
  const steps = new Map<string, OpenStep>();
  const stepsOf = (addresses: readonly string[]) => addresses.flatMap((address) => steps.get(address) ?? []);
  for (const [address, step] of open) {
    const timing = timingOf(step.timing);
    switch (step.stage) {
      case 'saving':
        steps.set(address, { timing, after: [], ageMs: now - step.since, isSaving: true });
        break;
      case 'running':
        steps.set(address, { timing, after: [], ageMs: Math.max(1, now - step.since) });
        break;
      case 'begun':
        steps.set(address, { timing, after: [], ageMs: 0 });
        break;
      case 'waiting':
        steps.set(address, { timing, after: stepsOf(step.needs) });
        break;
      default:
        step.stage satisfies never;
    }
  }
  const grouped = groups !== undefined && { groups: groups.map(stepsOf) };
  return simulateEnds([...steps.values()], { slots, draws, ...grouped });
}

function timingFrom(timed: Timed): Timing {
  return {
    jobs: timed.jobs ?? estimate([]),
    doubt: doubtOf(timed.samples),
    startMs: meanOf(timed.starts, 0),
    saveMs: timed.isShort ? 0 : meanOf(timed.saves, usualSaveMs),
    failShare: timed.failed / (timed.failed + timed.done + fewestKnown),
  };
}

function meanOf(numbers: readonly number[], otherwise: number): number {
  return numbers.length === 0 ? otherwise : numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
