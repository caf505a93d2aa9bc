import type { Clock } from '../contract/clock.ts';
import type { RunFact } from '../contract/event.ts';
import type {
  LockFile,
  LostCreates,
  Outputs,
  Ports,
  PurchaseJournal,
  RequestBodies,
  Service,
} from '../contract/ports.ts';
import type { Lock } from '../lock/record.ts';
import { orderId, type Plan, type StepOrder } from '../plan/plan.ts';
import type { PriceBook } from '../plan/prices/price-book.ts';
import { AccountGate } from './account-gate.ts';
import { Breaker } from './breaker.ts';
import { LocalGate } from './create-gate.ts';
import { type Drive, drive } from './drive.ts';
import type { DriveOptions, OnError } from './driven.ts';
import { LocalLedger } from './local-ledger.ts';
import { ListLookUp, type LookUpTimes } from './lost-creates.ts';
import type { SharedSlots } from './shared-slots.ts';

export interface CarryOutOptions {
  /** The lock as read; grows with the run. */
  lock: Lock;
  file: LockFile;
  bodies: RequestBodies;
  outputs: Outputs;
  service: Service;
  clock: Clock;
  emit(fact: RunFact): void;
  /** Aborted: nothing new is paid for; what is on the wire is awaited. */
  signal: AbortSignal;
  /** Purchases under this campaign name and account, whatever the lock, and limits. Omitted for sandbox credits. */
  purchases?: PurchaseJournal | undefined;
  /** Digest of a send's id and the credential of this run. */
  accountOf(send: string): string | undefined;
  /** Whether this run still holds the lock. */
  isAlone(): Promise<boolean>;
  /** How a create whose answer was lost is looked for. */
  times: LookUpTimes;
  /** How long an empty account is waited for, in ms; 0: not at all. */
  creditWaitMs: number;
  /** Longest pause that the service may request between creates. Defaults to 10 minutes. */
  patienceMs?: number | undefined;
  /** Treatment of creates whose answers were lost. */
  onUnknown: 'ask' | 'hold';
  onError: OnError;
  /** Creates on the wire at once. Default: 64. */
  creates?: number;
  goesOn?: DriveOptions['goesOn'];
  ends?: DriveOptions['ends'];
  onEnd?: DriveOptions['onEnd'];
  /** Parts that several runs of one account share. Defaults to parts of this run alone. */
  account?: SharedAccount | undefined;
  /** Charges of earlier heads of this run, by price class. */
  learned?: PriceBook | undefined;
  /** Tells runs apart in what they share. */
  run?: string;
}

export interface SharedAccount {
  gate: AccountGate;
  lost: LostCreates;
  slots: SharedSlots;
}

export interface CarriedOut {
  ledger: LocalLedger;
  gate: LocalGate;
  /** The plan under way. Its `ends` say how each step has ended, by address. */
  driven: Drive;
}

/** Puts ledger, gate and the search for lost creates together, and lets the engine carry the plan out with them. */
export function carryOut(plan: Plan, options: CarryOutOptions): CarriedOut {
  const { lock, file, bodies, outputs, service, clock, emit, signal, accountOf, isAlone } = options;
  const { account, run = '' } = options;
  const { creates = 64, creditWaitMs } = options;
  const shared = account?.gate ?? new AccountGate({ clock, places: creates, creditWaitMs });
  const gate = new LocalGate({ account: shared, run, emit });
  const { onError, goesOn, ends } = options;
  const orders = plan.rows.flatMap(({ order }) => (order && ends?.has(orderId(order)) !== true ? [order] : []));
  const ledger = new LocalLedger({
    ...{ lock, file, bodies, gate, totals: plan.totals, orders, learned: options.learned, accountOf, isAlone, emit },
    purchases: options.purchases,
  });
  const hold = options.onUnknown === 'hold';
  const records = () => ledger.lock.steps.values();
  const lost =
    account === undefined
      ? new ListLookUp({ records, service, clock, signal, times: options.times, hold, gate: gate.doors })
      : holding(account.lost, hold);
  const report = (fact: RunFact) => {
    breaker?.note(fact);
    emit(fact);
  };
  const mayRetry = (order: StepOrder, error: string) => breaker?.allowsRetry(order, error) !== false;
  const ports: Ports = {
    ledger,
    gate,
    lost,
    service,
    outputs,
    clock,
    emit: report,
    mayRetry,
    signal,
    patienceMs: options.patienceMs,
  };
  const breaker = onError === 'wait' ? new Breaker(plan, lock) : undefined;
  for (const { order } of plan.rows) {
    const end = order && ends?.get(orderId(order));
    if (order && end) breaker?.end(order, end);
  }
  const { account: money } = ledger;
  const onEnd: DriveOptions['onEnd'] = (name, end, order) => {
    money.approval?.ended(name);
    breaker?.end(order, end);
    options.onEnd?.(name, end, order);
  };
  const { concurrency } = plan;
  const slots = account?.slots;
  const driving = { concurrency, onError, breaker, goesOn, ends, onEnd, slots, account: money };
  return { ledger, gate, driven: drive(plan, ports, driving) };
}

/** The search of an account, for a run that may leave lost creates to a person. */
function holding(lost: LostCreates, hold: boolean): LostCreates {
  if (!hold) return lost;
  return { fence: (kind) => lost.fence(kind), lookUp: async () => ({ do: 'held' }) };
}
