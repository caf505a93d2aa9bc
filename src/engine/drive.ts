import PQueue from 'p-queue';
import type { StepOutcome } from '../contract/event.ts';
import type { Ports } from '../contract/ports.ts';
import { orderName, type Plan, type PlanRow, type StepOrder } from '../plan/plan.ts';
import { runStep } from '../run/step.ts';
import type { StepEnd } from '../run/step-end.ts';
import { ChainedOrders } from './chained-orders.ts';
import { holdPosts } from './hold-posts.ts';
import { linkOrders, measureHeights, urgencyOf } from './order-of-work.ts';

export interface DriveOptions {
  /** Jobs that may run at once, attached ones included. */
  concurrency: number;
  /** Outputs fetched at once. */
  downloads: number;
  /** After a step that failed: go on with all that do not need it, or only finish what has begun. */
  onError: 'continue' | 'finish';
}

/** What a person has to look at; all other ends follow from these, or are for the next run. */
const failures: readonly StepOutcome[] = ['failed', 'refused', 'unresolved', 'lost'];

/** How every order of the plan that was acted on has ended, by name. */
export type DriveResult = Map<string, StepEnd>;

/**
 * Carries a plan out in this process: starts what is ready as far as there are slots, and when something ends, starts
 * what it was holding up. A slot is held from before the create until the job has ended, not until its file is saved.
 */
export async function drive(plan: Plan, ports: Ports, options: DriveOptions): Promise<DriveResult> {
  const orders = new Map(plan.rows.flatMap(({ order }) => (order ? [[orderName(order), order] as const] : [])));
  for (const row of plan.rows) if (row.order === undefined) leave(row, ports);

  const ends: DriveResult = new Map();
  const jobs = new PQueue({ concurrency: options.concurrency });
  const downloads = new PQueue({ concurrency: options.downloads });
  const stepPorts: Ports = {
    ...ports,
    emit(fact) {
      ports.emit(fact);
      if (ready.note(fact)) fillSlots();
    },
    outputs: {
      save: (target, download) => downloads.add(() => ports.outputs.save(target, download)),
      relocate: (target, from, choices) => downloads.add(() => ports.outputs.relocate(target, from, choices)),
      measure: (output) => ports.outputs.measure(output),
    },
  };
  const { counts: waiting, dependents } = linkOrders(orders);
  const heights = measureHeights(orders, dependents);
  const failure: { error?: unknown } = {};
  const ready = new ChainedOrders(orders, { dependents, heights }, plan.totals);
  let unfinished = 0;
  /** Begun and not ended. */
  let underWay = 0;
  let onFinished = () => {};

  const fillSlots = () => {
    while (jobs.pending + jobs.size < options.concurrency) {
      const order = ready.take({ isIdle: underWay === 0 });
      if (order === undefined) return;
      underWay += 1;
      void jobs.add(() => holdSlot(order));
    }
  };
  jobs.on('next', fillSlots);

  /** Resolves when the slot is free; the step may go on after it. */
  const holdSlot = (order: StepOrder) =>
    new Promise<void>((free) => {
      const { length: ownDependents } = dependents.get(orderName(order)) ?? [];
      const urgency = () => urgencyOf({ dependents: ownDependents, waiting: ready.size, running: jobs.pending });
      runStep(order, stepPorts, { free, urgency })
        .then(
          (end) => settle(order, end),
          (error: unknown) => {
            failure.error ??= error;
            ports.gate.stop('error', error instanceof Error ? error.message : String(error));
            settle(order, { outcome: 'left', credits: null, error: String(error) });
          },
        )
        .catch((error: unknown) => {
          failure.error ??= error;
        })
        .finally(() => {
          free();
          underWay -= 1;
          fillSlots();
          unfinished -= 1;
          if (unfinished === 0) onFinished();
        });
    });

  const start = (order: StepOrder) => {
    unfinished += 1;
    ready.add(order);
  };

  const posts = holdPosts(orders, start);
  const settle = (order: StepOrder, end: StepEnd) => {
    const name = orderName(order);
    ends.set(name, end);
    if (options.onError === 'finish' && failures.includes(end.outcome)) {
      ports.gate.stop('failure', `${order.address} ${end.outcome}`);
    }
    posts.ended(order);
    for (const address of dependents.get(name) ?? []) {
      const dependent = orders.get(address);
      if (dependent === undefined || ends.has(address)) continue;
      // A step that is not needed stands in nobody's way: who uses it finds out by itself whether it is needed. Nor does a
      // send that was asked about, unless it can be asked about again: what is bought now is something else.
      const isPassed = order.asksOnly && !end.recoverable;
      if (end.outcome !== 'done' && end.outcome !== 'unneeded' && !isPassed) {
        blockStep(dependent, order.address, order.asksOnly ? 'left' : end.outcome);
        continue;
      }
      const left = (waiting.get(address) ?? 0) - 1;
      waiting.set(address, left);
      if (left === 0) posts.ready(dependent);
    }
  };

  /** Not a failure of its own: it only could not begin. */
  const blockStep = (order: StepOrder, by: string, outcome: StepOutcome) => {
    const { address, task, kind, action } = order;
    const own: StepOutcome = outcome === 'left' || outcome === 'running' ? 'left' : 'blocked';
    stepPorts.emit({ event: 'step-started', address, task, kind, action });
    stepPorts.emit({
      event: 'step-finished',
      address,
      task,
      outcome: own,
      credits: 0,
      error: `needs ${by}, which is ${outcome}`,
    });
    settle(order, { outcome: own, credits: 0 });
  };

  for (const [name, order] of orders) if (!waiting.has(name)) posts.ready(order);
  posts.release();
  // Not before everything that can start is ready: the order is that of priority from the first slot on.
  fillSlots();
  if (unfinished > 0) {
    await new Promise<void>((resolve) => {
      onFinished = resolve;
    });
  }
  if (failure.error !== undefined) throw failure.error;
  return ends;
}

function leave(row: PlanRow, ports: Ports): void {
  const { address, task, kind, action, reason, blockedBy, send } = row;
  // The step has a row of its own.
  if (send !== undefined) return;
  ports.emit({
    event: 'step-left',
    address,
    task,
    kind,
    action,
    reason,
    ...(blockedBy !== undefined && { blockedBy }),
  });
}
