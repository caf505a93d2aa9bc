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
import { capsOf } from '../plan/prices/fund.ts';
import type { PriceBook } from '../plan/prices/prices.ts';
import { hasOpenSend } from '../plan/purchases/next.ts';
import { stepFinished } from '../run/step-end.ts';
import { Account } from './account.ts';
import { AccountGate } from './account-gate.ts';
import { Breaker } from './breaker.ts';
import { LocalGate } from './create-gate.ts';
import { type Drive, type DriveOptions, drive } from './drive.ts';
import { LocalLedger } from './local-ledger.ts';
import { ListLookUp, type LookUpTimes } from './lost-creates.ts';

export interface CarryOutOptions {
  lock: Lock;
  file: LockFile;
  bodies: RequestBodies;
  outputs: Outputs;
  service: Service;
  clock: Clock;
  emit(fact: RunFact): void;
  /** After an abort, the run starts no purchase and waits for the requests in flight. */
  signal: AbortSignal;
  /** Purchase journal of this campaign and account, with the spending limits. Sandbox credits have none. */
  purchases?: PurchaseJournal | undefined;
  accountOf(send: string): string | undefined;
  isAlone(): Promise<boolean>;
  times: LookUpTimes;
  /** Time in ms that the run waits for credits if the account has none. 0 means no wait. */
  creditWaitMs: number;
  patienceMs?: number | undefined;
  onUnknown: 'ask' | 'hold';
  onError: DriveOptions['onError'];
  creates?: number;
  waitForWork?: DriveOptions['waitForWork'];
  ends?: DriveOptions['ends'];
  /** Called when a step ends. Defaults to a function that emits `step-finished` at once. */
  onEnd?: DriveOptions['onEnd'] | undefined;
  /** Gate and list search that the runs of one account share, and the id of this run. Default: not shared. */
  account?: SharedAccount & { run: string };
  /** Prices from charges that earlier leaders of this run recorded, by price class. */
  learned?: PriceBook | undefined;
}

export interface SharedAccount {
  gate: AccountGate;
  lost: LostCreates;
}

export interface CarriedOut {
  ledger: LocalLedger;
  gate: LocalGate;
  driven: Drive;
}

export function carryOut(plan: Plan, options: CarryOutOptions): CarriedOut {
  const { account, service, outputs, clock, signal, emit, onError, waitForWork, ends, patienceMs } = options;
  const { creates = 64, creditWaitMs } = options;
  const shared = account?.gate ?? new AccountGate({ clock, places: creates, creditWaitMs });
  const money = openAccount(plan, options);
  const gate = new LocalGate(shared, money, { run: account?.run ?? '', emit });
  const ledger = new LocalLedger({ ...options, gate, account: money, totals: plan.totals });
  const records = () => ledger.lock.steps.values();
  const lost = holding(
    account?.lost ?? new ListLookUp({ records, service, clock, signal, times: options.times, gate: shared }),
    options.onUnknown === 'hold',
  );
  const report = (fact: RunFact) => {
    breaker?.note(fact);
    emit(fact);
  };
  const mayRetry = (order: StepOrder, error: string) =>
    !hasOpenSend(ledger.lock.steps.get(order.address)?.purchases ?? [], order) &&
    breaker?.allowsRetry(order, error) !== false;
  const ports: Ports = { ledger, gate, lost, service, outputs, clock, emit: report, mayRetry, signal, patienceMs };
  const breaker = onError === 'wait' ? new Breaker(plan, options.lock) : undefined;
  for (const { order } of plan.rows) {
    const end = order && ends?.get(orderId(order));
    if (order && end) breaker?.end(order, end);
  }
  const onEnd: DriveOptions['onEnd'] = (name, end, order) => {
    money.endOrder(name);
    breaker?.end(order, end);
    if (options.onEnd !== undefined) options.onEnd(name, end, order);
    else if (!order.asksOnly) emit(stepFinished(order, end, clock.now()));
  };
  const { concurrency } = plan;
  const driving = { concurrency, onError, breaker, waitForWork, ends, onEnd, slots: shared.slots, account: money };
  return { ledger, gate, driven: drive(plan, ports, driving) };
}

function openAccount({ rows, totals }: Plan, { ends, learned }: CarryOutOptions): Account {
  const { budget, alreadyPaid, held, heldUnpriced, guessed } = totals;
  const orders = rows.flatMap(({ order }) => (order && ends?.has(orderId(order)) !== true ? [order] : []));
  return new Account({
    caps: capsOf({ ...totals, budget: budget === undefined ? undefined : budget - alreadyPaid - held }),
    spentBefore: alreadyPaid,
    heldUnpriced,
    guessedBefore: guessed?.map((guess) => guess.class),
    prices: learned,
    approved: { totals, orders },
  });
}

/** With `onUnknown: 'hold'`, a lost create request stays unresolved until a user resolves it. */
function holding(lost: LostCreates, hold: boolean): LostCreates {
  if (!hold) return lost;
  return { fence: (kind) => lost.fence(kind), lookUp: async () => ({ do: 'held' }) };
}
