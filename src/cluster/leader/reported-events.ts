import type { WorkerEvent } from '../../contract/engine-state.ts';
import type { RunFact, StopReason } from '../../contract/event.ts';
import type { Lock } from '../../lock/record.ts';
import { orderId, type Plan, type StepOrder } from '../../plan/plan.ts';
import type { StepEnd } from '../../run/step-end.ts';

type Stop = Extract<RunFact, { event: 'spending-stopped' }>;

/** Reasons that stop only some create requests of a run. */
const partial: readonly StopReason[] = ['budget', 'limit', 'price', 'alike'];
/** Stop reasons that name single steps, so the event is reported again for each new step. */
const ofSome: readonly StopReason[] = ['price', 'alike'];

/** Events that leaders of a run have reported. Ensures that each start and end of a step is reported once. */
export class ReportedEvents {
  readonly begun = new Set<string>();
  readonly ended = new Set<string>();
  readonly saved = new Set<string>();
  readonly stops = new Map<StopReason, Set<string>>();
  isStarted = false;
  balance: number | null = null;

  get stopped(): StopReason | undefined {
    return [...this.stops.keys()].find((because) => !partial.includes(because));
  }

  note(fact: RunFact): boolean {
    switch (fact.event) {
      case 'run-started': {
        const isNews = !this.isStarted;
        this.isStarted = true;
        return isNews;
      }
      case 'step-started':
      case 'step-left':
        return add(this.begun, fact.address);
      case 'step-finished':
        return add(this.ended, fact.address);
      case 'spending-stopped':
        return this.#noteStop(fact);
      case 'output-saved':
        this.saved.add(fact.address);
        return true;
      case 'job-created':
      case 'credits-changed':
        this.balance = fact.balance ?? this.balance;
        return true;
      default:
        return true;
    }
  }

  #noteStop({ because, detail }: Stop): boolean {
    const details = this.stops.get(because) ?? new Set();
    this.stops.set(because, details);
    const isNews = details.size === 0 || (ofSome.includes(because) && !details.has(detail));
    details.add(detail);
    return isNews;
  }
}

function add(names: Set<string>, name: string): boolean {
  const isNews = !names.has(name);
  names.add(name);
  return isNews;
}

export function workerEventOf(fact: RunFact, of: { campaign: string; run: string }): WorkerEvent | undefined {
  switch (fact.event) {
    case 'run-started':
      return { event: 'run-started', ...of, steps: fact.steps };
    case 'spending-stopped':
      return fact.because === 'disk' ? { event: 'store-full', ...of, error: fact.detail } : undefined;
    case 'run-ended':
      return { event: 'run-ended', ...of, exit: fact.exit, credits: fact.spentNow, outcomes: fact.outcomes };
    default:
      return undefined;
  }
}

/** Events that may result from the handover to another leader, not from the run itself. */
export const eventsOfLeaving: readonly RunFact['event'][] = ['step-started', 'step-left', 'spending-stopped'];

/** Yields the steps whose end is recorded but not reported, with the events that must be reported before the end. */
export function* unreportedEnds(
  plan: Pick<Plan, 'rows'>,
  ends: ReadonlyMap<string, StepEnd>,
  { lock, reported }: { lock: Lock; reported: ReportedEvents },
): Generator<{ order: StepOrder; end: StepEnd; before: RunFact[] }> {
  for (const { order } of plan.rows) {
    const end = order && ends.get(orderId(order));
    if (order === undefined || end === undefined || order.asksOnly || reported.ended.has(order.address)) continue;
    const { address, task, kind, action, fingerprint } = order;
    const before: RunFact[] = [{ event: 'step-started', address, task, kind, action }];
    if (end.outcome === 'done' && !reported.saved.has(address)) {
      const made = lock.steps.get(address)?.purchases.find((one) => one.fingerprint === fingerprint && one.outputs);
      for (const output of made?.outputs ?? [])
        before.push({ event: 'output-saved', address, output, how: 'downloaded' });
    }
    yield { order, end, before };
  }
}
