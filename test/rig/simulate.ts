import { setMaxListeners } from 'node:events';
import { urgencyOf } from '../../src/engine/order-of-work.ts';
import { Durations } from '../../src/service/polling/durations.ts';
import { Poller } from '../../src/service/polling/poller.ts';
import { watchJob } from '../../src/service/watch.ts';
import { type BenchStep, idealMs } from '../bench/steps.ts';
import { PolledService } from './polled-service.ts';
import { seeded } from './random.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface SimulationOptions {
  concurrency: number;
  /** A create is answered within so long. */
  answersMs?: number;
  /** The service takes on so many jobs in a second, one after the other. */
  createsPerSecond?: number;
  /** Reads that the service bears. */
  perSecond?: number;
  durations?: Durations;
  /** What its list is like. */
  list?: Partial<Pick<PolledService, 'readMs' | 'stale' | 'pageMost' | 'repeatsLimit' | 'strangers' | 'hiddenEvery'>>;
  seed?: number;
}

export type Simulated = Awaited<ReturnType<typeof simulate>>;

/** A run in virtual time, in which only polling takes time: whoever can begin does, as soon as a slot is free. */
export async function simulate(kind: string, steps: readonly BenchStep[], options: SimulationOptions) {
  const clock = new VirtualClock({ random: seeded(options.seed ?? 7) });
  const service = new PolledService(clock, options.perSecond);
  Object.assign(service, options.list);
  const durations = options.durations ?? new Durations();
  const poller = new Poller({ http: service, clock, durations, deadlineMs: 1000 });
  const ports = {
    clock,
    poller,
    health: { failures: 0, countAgainAt: 0 },
    patienceMs: Number.POSITIVE_INFINITY,
    redact: (text: string) => text,
  };
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const missing = steps.map(({ needs }) => needs.length);
  const dependents = steps.map((): number[] => []);
  for (const [index, { needs }] of steps.entries()) for (const need of needs) dependents[need]?.push(index);
  const ready = [...steps.keys()].filter((index) => missing[index] === 0);
  let running = 0;
  let thoughts = 0;
  let createsFrom = clock.now();

  const work = async (index: number) => {
    if (options.createsPerSecond !== undefined) {
      createsFrom = Math.max(createsFrom, clock.now()) + 1000 / options.createsPerSecond;
      await clock.sleep(createsFrom - clock.now());
    }
    const job = service.make(steps[index]?.durationMs ?? 0);
    if (options.answersMs !== undefined) await clock.sleep(clock.random() * options.answersMs);
    // As the engine says it.
    const urgency = () => {
      thoughts += 1;
      return urgencyOf({ dependents: dependents[index]?.length ?? 0, waiting: ready.length, running });
    };
    const watched = { signal, fresh: true, urgency, onStatus: () => {}, notice: () => {} };
    const end = await watchJob({ kind, jobId: job.id }, ports, watched);
    if (end.is !== 'completed') throw new Error(`job ${job.id} is ${end.is}`);
  };
  const startedAt = clock.now();
  await clock.run(
    new Promise<void>((resolve, reject) => {
      const fill = () => {
        if (running === 0 && ready.length === 0) return resolve();
        while (running < options.concurrency && ready.length > 0) {
          const index = ready.shift() ?? 0;
          running += 1;
          work(index).then(() => {
            running -= 1;
            for (const dependent of dependents[index] ?? []) {
              missing[dependent] = (missing[dependent] ?? 0) - 1;
              if (missing[dependent] === 0) ready.push(dependent);
            }
            fill();
          }, reject);
        }
      };
      fill();
    }),
  );
  const lags = service.jobs.map(({ seenAt = Number.NaN, doneAt }) => seenAt - doneAt);
  return {
    meanLagMs: lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
    perJob: service.reads / steps.length,
    /** How often the poller asked how urgent a job is: at each look at it, whether or not a request followed. */
    thoughtsPerJob: thoughts / steps.length,
    durations,
    refused: service.refused,
    closestMs: service.closestMs,
    times: (clock.now() - startedAt) / idealMs([...steps], options.concurrency, options.createsPerSecond),
  };
}
