import type { RunFact, StepOutcome } from '../contract/event.ts';
import { likenessOf } from '../ground/likeness.ts';
import { kinds } from '../kinds/index.ts';
import { priceClass } from '../kinds/price.ts';
import type { Lock } from '../lock/record.ts';
import { orderId, type Plan, type PlanRow, type StepOrder } from '../plan/plan.ts';
import { isPurchase } from './order-of-work.ts';

/** Number of failures for one reason, without a success, after which similar orders wait. */
const mostFailures = 5;

const failures: readonly StepOutcome[] = ['failed', 'refused', 'lost'];

interface Group {
  underWay: Set<string>;
  isProven: boolean;
  reasons: Map<string, { count: number; error: string }>;
  isReported: boolean;
}

/** `unmet`: the requirement in `expect:` that an output does not meet, without the file name. */
interface Failed {
  error?: string | undefined;
  unmet?: string | undefined;
}

interface Orders {
  orders: ReadonlyMap<string, StepOrder>;
  ended: ReadonlyMap<string, unknown>;
}

/**
 * Circuit breaker for repeated failures of paid steps of one task and price. Until a step succeeds, each failure for
 * one reason lowers the number of steps that may run at once; after five failures, no step starts. Failures of earlier
 * runs count as four at most, so that one step can start and show whether the cause is gone.
 */
export class Breaker {
  readonly #groups = new Map<string, Group>();
  readonly #groupsByAddress = new Map<string, Group>();

  constructor({ rows }: Pick<Plan, 'rows'>, lock: Lock) {
    const isMade = ({ action, jobId }: PlanRow) => jobId !== undefined && ['keep', 'download', 'move'].includes(action);
    const lively = new Set(rows.filter(isMade).map(({ task }) => task));
    for (const { action, address, task, reason } of rows) {
      if ((action !== 'failed' && action !== 'retry') || lively.has(task)) continue;
      const record = lock.steps.get(address);
      // The state of a job is `done` even if its output does not meet the requirements in `expect:`.
      const isUnfit = reason.code === 'unfit';
      const states = isUnfit ? ['done'] : ['failed', 'lost'];
      const failed = record?.purchases.find(({ state }) => states.includes(state));
      const kind = kinds[failed?.kind ?? record?.kind ?? ''];
      if (failed?.request === undefined || kind === undefined) continue;
      const group = this.#group(`${task} ${priceClass(kind, failed.request)}`);
      this.#count(group, isUnfit ? { error: reason.text, unmet: reason.unmet } : failed, mostFailures - 1);
    }
  }

  holds(order: StepOrder): boolean {
    if (!isNew(order)) return false;
    const { isProven, reasons, underWay } = this.#group(nameOf(order));
    const count = mostOf(reasons)?.count ?? 0;
    return !isProven && count > 0 && underWay.size >= mostFailures - count;
  }

  begin(order: StepOrder): void {
    const group = this.#group(nameOf(order));
    this.#groupsByAddress.set(order.address, group);
    if (isNew(order) || order.action === 'attach') group.underWay.add(orderId(order));
  }

  /**
   * Returns whether a job that failed for this reason may be retried: a similar step succeeded, or fewer than five
   * similar steps failed for it.
   */
  allowsRetry(order: StepOrder, error: string): boolean {
    const { isProven, reasons } = this.#group(nameOf(order));
    return isProven || (reasons.get(likenessOf(error))?.count ?? 0) + 1 < mostFailures;
  }

  note(fact: RunFact): void {
    const group = fact.event === 'job-retried' ? this.#groupsByAddress.get(fact.address) : undefined;
    if (fact.event === 'job-retried' && group !== undefined) this.#count(group, fact);
  }

  end(order: StepOrder, end: Failed & { outcome: StepOutcome }): void {
    const { outcome } = end;
    const group = this.#group(nameOf(order));
    group.underWay.delete(orderId(order));
    if (order.asksOnly) return;
    if (outcome === 'done' && order.action !== 'download' && order.action !== 'move') group.isProven = true;
    if (failures.includes(outcome)) this.#count(group, end); // I39 (alike)
  }

  /**
   * Returns why an order does not start in this run, or `undefined` if it may still start. An order does not start if
   * five similar orders failed for one reason, none succeeded and none is running. Emits the reason once for each
   * group.
   */
  refusalOf(order: StepOrder, run: Orders & { emit(fact: RunFact): void }): string | undefined {
    const group = this.#group(nameOf(order));
    const { count, error } = mostOf(group.reasons) ?? { count: 0, error: '' };
    if (group.isProven || group.underWay.size > 0 || count < mostFailures) return undefined;
    if (!group.isReported) {
      const left = [...run.orders].flatMap(([name, one]) =>
        !run.ended.has(name) && isNew(one) && nameOf(one) === nameOf(order) ? [one.price] : [],
      );
      const credits = left.reduce((sum, price) => sum + (price.credits ?? price.likely ?? 0), 0);
      const cost = credits === 0 ? '' : ` (${credits} ${credits === 1 ? 'credit' : 'credits'})`;
      const reason = error === '' ? '' : `: ${error.replace(/\.$/, '')}`;
      const detail = `${order.task}: the first ${count} steps failed${reason}; steps not bought: ${left.length}${cost}`;
      run.emit({ event: 'spending-stopped', because: 'alike', detail });
      group.isReported = true;
    }
    return `${count} similar steps failed, and none succeeded`;
  }

  #count(group: Group, { error = '', unmet }: Failed, most = Number.POSITIVE_INFINITY): void {
    const reason = likenessOf(unmet ?? error);
    const known = group.reasons.get(reason) ?? { count: 0, error };
    if (known.count < most) group.reasons.set(reason, { ...known, count: known.count + 1 });
  }

  #group(name: string): Group {
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    const fresh: Group = { underWay: new Set(), isProven: false, reasons: new Map(), isReported: false };
    this.#groups.set(name, fresh);
    return fresh;
  }
}

/** Returns false for an open create request of an earlier run: its job is looked up even if similar orders fail. */
function isNew(order: StepOrder): boolean {
  return isPurchase(order) && order.send === undefined;
}

function nameOf({ task, price }: StepOrder): string {
  return `${task} ${price.class}`;
}

function mostOf(reasons: Group['reasons']): { count: number; error: string } | undefined {
  return [...reasons.values()].reduce<{ count: number; error: string } | undefined>(
    (most, one) => (most === undefined || one.count > most.count ? one : most),
    undefined,
  );
}
