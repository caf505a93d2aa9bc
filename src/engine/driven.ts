import type { Ports } from '../contract/ports.ts';
import { defined } from '../ground/values.ts';
import type { PlanRow, StepOrder } from '../plan/plan.ts';
import type { StepEnd } from '../run/step-end.ts';
import type { Account } from './account.ts';
import type { Breaker } from './breaker.ts';
import type { SharedSlots } from './shared-slots.ts';

/** Action after a failure. `wait`: continue, but buy no more steps similar to five that failed for one reason. */
export type OnError = 'wait' | 'continue' | 'finish';

export interface DriveOptions {
  /** Jobs that may run at once, including jobs of earlier runs. */
  concurrency: number;
  onError: OnError;
  account: Pick<Account, 'prices' | 'unspent'>;
  /** Without a breaker, no steps are paused. */
  breaker?: Breaker | undefined;
  /**
   * Called whenever no order is running, until one begins: returns whether the run continues. Without it, a run ends
   * when no order is running.
   */
  goesOn?: (() => Promise<boolean>) | undefined;
  /**
   * Ends of planned orders that an earlier leader recorded, by id: these orders are not executed, and their dependents
   * are released or blocked.
   */
  ends?: ReadonlyMap<string, StepEnd> | undefined;
  /** Slots of the account, shared with other plans. Omitted if this plan has its own. */
  slots?: SharedSlots | undefined;
  /** Called for each end, before dependents begin. */
  onEnd?: ((id: string, end: StepEnd, order: StepOrder) => void) | undefined;
}

export type DriveResult = Map<string, StepEnd>;

export function reportSkipped(row: PlanRow, { emit }: Pick<Ports, 'emit'>): void {
  const { address, task, kind, action, blockedBy, send, unneeded } = row;
  // The step is reported by its own row.
  if (send !== undefined) return;
  const { code, text: reason, need, job } = row.reason;
  const by = {
    ...defined({ unneeded, blockedBy, need }),
    ...(code === 'key-known' && { because: code }),
    ...defined({ jobId: job }),
  };
  emit({ event: 'step-left', address, task, kind, action, reason, ...by });
}
