import type { Clock } from '../../../src/contract/clock.ts';
import type { RunFact } from '../../../src/contract/event.ts';
import type {
  CreateGate,
  Downloads,
  Ledger,
  LostCreates,
  OutputFiles,
  Ports,
  Service,
} from '../../../src/contract/ports.ts';
import { localOutputs } from '../../../src/disk/outputs/outputs.ts';
import type { Output } from '../../../src/lock/record.ts';
import type { Carry } from '../../../src/plan/plan.ts';

/** Changes of the ports of one test; what is not given fails when it is used, except for what only tells. */
export interface Script {
  ledger?: Partial<Ledger>;
  gate?: Partial<CreateGate>;
  lost?: Partial<LostCreates>;
  service?: Partial<Service & Downloads>;
  outputs?: Partial<OutputFiles>;
  random?: number;
  /** Called with the length of each sleep; may abort. */
  onSleep?(ms: number, abort: () => void): void;
  aborted?: boolean;
}

export interface Traced {
  ports: Ports;
  /** What the ledger was told, in order: its method, and what is of interest. */
  told: unknown[];
  events: RunFact[];
  sleeps: number[];
  abort(): void;
}

function unscripted(what: string): () => never {
  return () => {
    throw new Error(`${what} was not expected`);
  };
}

/** Ports of one step without a campaign around it: each answer is given, everything told is kept. */
export function tracedPorts(script: Script = {}): Traced {
  const controller = new AbortController();
  if (script.aborted) controller.abort();
  const told: unknown[] = [];
  const events: RunFact[] = [];
  const sleeps: number[] = [];
  let now = Date.parse('2030-01-01T00:00:00Z');
  const clock: Clock = {
    now: () => now,
    random: () => script.random ?? 0.5,
    async sleep(ms) {
      sleeps.push(ms);
      now += ms;
      script.onSleep?.(ms, () => controller.abort());
    },
  };
  const notify =
    (what: string) =>
    (...facts: unknown[]) => {
      told.push([what, ...facts]);
    };
  const ledger: Ledger = {
    begin: async () => ({ do: 'go', reserved: 3 }),
    intent: async (_order, request) => {
      notify('intent')(request);
      return request.resent ?? 'send-1';
    },
    created: async (_order, job, answered) => {
      notify('created')(job, answered);
      return { credits: job.credits };
    },
    finish: async (_order, result) => notify('finish')(result),
    release: () => notify('release')(),
    doubt: () => notify('doubt')(),
    abandon: () => undefined,
    jobOf: async () => undefined,
    firstBody: async () => undefined,
    ...script.ledger,
  };
  const gate: CreateGate = {
    stopped: undefined,
    enter: async (_order, { signal }) => (signal.aborted ? 'stop' : 'in'),
    leave(_order, departure) {
      if (departure.is === 'throttled') notify('throttled')(departure.afterMs);
      if (departure.is === 'out-of-credits') notify('out of credits')(departure.error);
      return departure.is === 'throttled' ? 'again' : 'over';
    },
    stop: notify('stop'),
    ...script.gate,
  };
  const lost: LostCreates = {
    fence: async () => undefined,
    lookUp: unscripted('lookUp'),
    ...script.lost,
  };
  const service: Service & Downloads = {
    replays: () => true,
    clockAheadMs: async () => 0,
    create: unscripted('create'),
    watch: unscripted('watch'),
    newestJob: unscripted('newestJob'),
    walkJobs: unscripted('walkJobs'),
    open: unscripted('open'),
    upload: unscripted('upload'),
    ...script.service,
  };
  const files: OutputFiles = {
    save: unscripted('save'),
    relocate: unscripted('relocate'),
    measure: unscripted('measure'),
    ...script.outputs,
  };
  const outputs = localOutputs(service, files);
  const emit = (fact: RunFact) => {
    events.push(fact);
  };
  const ports = { ledger, gate, lost, service, outputs, clock, emit, signal: controller.signal };
  return { ports, told, events, sleeps, abort: () => controller.abort() };
}

export const image: Output = { path: 'out/a.png', sha256: 'a'.repeat(64), bytes: 1, type: 'image/png' };

export function orderOf(facts: Partial<Carry> = {}): Carry {
  return {
    campaign: 'test',
    address: 'hero@de',
    task: 'hero',
    kind: 'image',
    action: 'create',
    fingerprint: '1:aa',
    generation: 1,
    attempt: 1,
    repeat: 1,
    refused: 0,
    key: 'mb1-key',
    request: { prompt: 'p' },
    paidRequest: { prompt: 'p' },
    save: 'out/a',
    needs: [],
    price: { class: 'image', credits: 3, source: 'lock' },
    replaces: [],
    ...facts,
  };
}
