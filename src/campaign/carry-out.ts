import type { Clock } from '../contract/clock.ts';
import type { RunFact } from '../contract/event.ts';
import type { Outputs, Ports, Service } from '../contract/ports.ts';
import type { LockFile, RequestBodies } from '../contract/state.ts';
import { LocalGate } from '../engine/create-gate.ts';
import { drive } from '../engine/drive.ts';
import type { Driven, DriveOptions } from '../engine/driven.ts';
import { LocalLedger } from '../engine/local-ledger.ts';
import { ListLookUp, type LookUpTimes } from '../engine/lost-creates.ts';
import type { Lock } from '../lock/record.ts';
import type { Plan } from '../plan/plan.ts';

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
  /** Digest of a send's id and the credential of this run. */
  accountOf(send: string): string | undefined;
  /** Whether this run still holds the lock. */
  isAlone(): Promise<boolean>;
  /** How a create whose answer was lost is looked for. */
  times: LookUpTimes;
  /** How long an empty account is waited for, in ms; 0: not at all. */
  creditWaitMs: number;
  /** Treatment of creates whose answers were lost. */
  onUnknown: 'ask' | 'hold';
  onError: 'continue' | 'finish';
  /** Creates on the wire at once. Default: 64. */
  creates?: number;
  /** Files on the wire at once. Default: 16. */
  downloads?: number;
  goesOn?: DriveOptions['goesOn'];
}

export interface CarriedOut {
  ledger: LocalLedger;
  gate: LocalGate;
  /** The plan under way. Its `ends` say how each step has ended, by address. */
  driven: Driven;
}

/** Puts ledger, gate and the search for lost creates together, and lets the engine carry the plan out with them. */
export function carryOut(plan: Plan, options: CarryOutOptions): CarriedOut {
  const { lock, file, bodies, outputs, service, clock, emit, signal, accountOf, isAlone } = options;
  const gate = new LocalGate({ clock, places: options.creates ?? 64, creditWaitMs: options.creditWaitMs, emit });
  const ledger = new LocalLedger({ lock, file, bodies, gate, totals: plan.totals, accountOf, isAlone, emit });
  const lost = new ListLookUp({
    lock: () => ledger.lock,
    service,
    clock,
    signal,
    times: options.times,
    hold: options.onUnknown === 'hold',
    gate,
  });
  const ports: Ports = { ledger, gate, lost, service, outputs, clock, emit, signal };
  const { onError, downloads = 16, goesOn } = options;
  return { ledger, gate, driven: drive(plan, ports, { concurrency: plan.concurrency, downloads, onError, goesOn }) };
}
