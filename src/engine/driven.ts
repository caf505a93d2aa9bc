import type { Ports } from '../contract/ports.ts';
import type { PlanRow, StepOrder } from '../plan/plan.ts';
import type { StepEnd } from '../run/step-end.ts';
import type { Account } from './account.ts';
import type { Breaker } from './breaker.ts';
import type { SharedSlots } from './shared-slots.ts';

/** `wait`: goes on with everything else, but buys no more like what failed five times for one reason. */
export type OnError = 'wait' | 'continue' | 'finish';

export interface DriveOptions {
  /** Jobs that may run at once, attached ones included. */
  concurrency: number;
  /** After a failed step: go on with everything that does not need it, or only finish what has begun. */
  onError: OnError;
  /** Knows prices, and what the caps leave. */
  account: Pick<Account, 'prices' | 'unspent'>;
  /** Pauses steps that resemble those that fail. Without it, nothing is paused. */
  breaker?: Breaker | undefined;
  /**
   * Called whenever nothing is under way, until something begins: returns whether the run goes on. Without it, a run ends
   * when nothing is under way.
   */
  goesOn?: (() => Promise<boolean>) | undefined;
  /** Orders of the plan that have ended before, by id: they are not acted on, and who depends on them knows. */
  ends?: ReadonlyMap<string, StepEnd> | undefined;
  /** Slots of the account, shared with other plans. Omitted when there are none. */
  slots?: SharedSlots | undefined;
  /** Called for each end, before dependents begin. */
  onEnd?: ((id: string, end: StepEnd, order: StepOrder) => void) | undefined;
}

/** The end of every order that was acted on, by id. */
export type DriveResult = Map<string, StepEnd>;

export function reportSkipped(row: PlanRow, { emit }: Pick<Ports, 'emit'>): void {
  const { address, task, kind, action, blockedBy, send, unneeded } = row;
  // The step has a row of its own.
  if (send !== undefined) return;
  const { code, text: reason, need, job } = row.reason;
  const by = {
    ...(unneeded && { unneeded }),
    ...(blockedBy !== undefined && { blockedBy }),
    ...(need !== undefined && { need }),
    ...(code === 'key-known' && { because: code }),
    ...(job !== undefined && { jobId: job }),
  };
  emit({ event: 'step-left', address, task, kind, action, reason, ...by });
}
