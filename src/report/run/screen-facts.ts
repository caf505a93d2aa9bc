import type { RunEvent, StepOutcome } from '../../contract/event.ts';
import { envelope } from '../../kinds/envelope.ts';
import type { RunView } from './run-view.ts';
import { isTrouble, reasonOf } from './summary-troubles.ts';

/** What the screen knows of a step beside its stage. */
export interface StepFacts {
  address: string;
  task: string;
  kind: string;
  /** Begin of its stage, in ms since 1970. */
  since: number;
  /** Charged in this run; `null`: unknown. */
  credits: number | null;
  /** Its job waits at the service. */
  isQueued: boolean;
  /** Where its first file was saved. */
  path?: string;
  /** Of a step that has ended. */
  outcome?: StepOutcome;
}

/** Steps that failed with the same words. */
export interface TroubleGroup {
  text: string;
  outcome: StepOutcome;
  count: number;
  /** Charged for them. */
  credits: number;
  /** The last of them, and when it was, in ms since 1970. */
  address: string;
  at: number;
}

/** Limits what is kept of a run in which everything fails with other words. */
const mostGroups = 50;

/** A run with at most so many steps to do may be shown step by step, and only then is kept what has ended. */
export const mostStepsShown = 60;

/**
 * What the screen tells beside the view of a run: ages, charges and rates by task, reasons of failures. Each event costs
 * the same, however many steps there are; what is kept follows the steps under way.
 */
export class ScreenFacts {
  /** Steps under way; of a small run also those that have ended. */
  readonly steps = new Map<string, StepFacts>();
  /** Credits charged in this run, by task. */
  readonly spent = new Map<string, number>();
  readonly rates = new Map<string, Rate>();
  /** By words, the latest at the end. */
  readonly troubles = new Map<string, TroubleGroup>();
  #isSmall = false;
  /** Planned steps that this run does not begin, of which those that are up to date are most. */
  left = 0;

  /** `view`: with the event folded in. */
  note(event: RunEvent, view: RunView): void {
    switch (event.event) {
      case 'run-started':
        this.#isSmall = event.steps <= mostStepsShown;
        return;
      case 'step-left':
        if (event.action === 'keep') this.left += 1;
        return;
      case 'step-started': {
        const { address, task, kind } = event;
        this.steps.set(address, { address, task, kind, since: Date.parse(event.at), credits: 0, isQueued: false });
        return;
      }
      case 'job-created': {
        const step = this.steps.get(event.address);
        if (step === undefined) return;
        step.since = Date.parse(event.at);
        this.#charge(step, step.credits === null || event.credits === null ? null : step.credits + event.credits);
        return;
      }
      case 'job-progressed': {
        const step = this.steps.get(event.address);
        if (step !== undefined) step.isQueued = event.status === envelope.states.queued;
        return;
      }
      case 'job-retried':
      case 'job-completed': {
        const step = this.steps.get(event.address);
        if (step !== undefined) step.since = Date.parse(event.at);
        return;
      }
      case 'output-saved': {
        const step = this.steps.get(event.address);
        if (step !== undefined) step.path ??= event.output.path;
        return;
      }
      case 'step-finished':
        this.#finish(event, view);
        return;
      default:
        return;
    }
  }

  /** Jobs done a minute, of late; undefined as long as it says little. */
  rateOf(task: string, now: number): number | undefined {
    return this.rates.get(task)?.perMinute(now);
  }

  #finish(event: Extract<RunEvent, { event: 'step-finished' }>, view: RunView): void {
    const { address, task, outcome, credits } = event;
    const step = this.steps.get(address);
    // A late one of an ended step.
    if (step === undefined || step.outcome !== undefined) return;
    const at = Date.parse(event.at);
    this.#charge(step, credits);
    step.outcome = outcome;
    step.since = at;
    if (!this.#isSmall) this.steps.delete(address);
    if (outcome === 'done') {
      const rate = this.rates.get(task) ?? new Rate();
      this.rates.set(task, rate);
      rate.add(at);
    }
    if (!isTrouble(outcome)) return;
    const text = reasonOf(event, view);
    const name = `${outcome} ${text}`;
    const before = this.troubles.get(name);
    this.troubles.delete(name);
    const charged = (before?.credits ?? 0) + (credits ?? 0);
    this.troubles.set(name, { text, outcome, count: (before?.count ?? 0) + 1, credits: charged, address, at });
    const [oldest] = this.troubles.keys();
    if (this.troubles.size > mostGroups && oldest !== undefined) this.troubles.delete(oldest);
  }

  #charge(step: StepFacts, credits: number | null): void {
    const more = (credits ?? 0) - (step.credits ?? 0);
    step.credits = credits;
    if (more !== 0) this.spent.set(step.task, (this.spent.get(step.task) ?? 0) + more);
  }
}

const bucketMs = 10_000;
const buckets = 12;

/** Counts what ends, over the last two minutes. */
class Rate {
  readonly #counts = new Array<number>(buckets).fill(0);
  #bucket = 0;
  #firstAt: number | undefined;

  /** `at`: ms since 1970. */
  add(at: number): void {
    this.#moveTo(at);
    this.#firstAt ??= at;
    const index = this.#bucket % buckets;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  perMinute(now: number): number | undefined {
    this.#moveTo(now);
    if (this.#firstAt === undefined || now - this.#firstAt < 30_000) return undefined;
    const minutes = Math.min(now - this.#firstAt, (buckets - 1) * bucketMs + (now % bucketMs)) / 60_000;
    return this.#counts.reduce((sum, count) => sum + count, 0) / minutes;
  }

  #moveTo(time: number): void {
    const bucket = Math.floor(time / bucketMs);
    const passed = Math.min(buckets, bucket - this.#bucket);
    for (let step = 1; step <= passed; step += 1) this.#counts[(bucket - passed + step) % buckets] = 0;
    this.#bucket = Math.max(this.#bucket, bucket);
  }
}
