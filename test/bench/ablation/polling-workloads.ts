import { Durations } from '../../../src/service/polling/durations.ts';
import { logNormal, seeded } from '../../rig/random.ts';
import { type SimulationOptions, simulate } from '../../rig/simulate.ts';
import { independent, layered } from '../steps.ts';

/** What polling made of a workload in virtual time: means over its draws. */
export interface Polled {
  /** × ideal. */
  wall: number;
  reads: number;
  lagMs: number;
}

interface Jobs {
  kind: string;
  count: number;
  medianMs: number;
  sigma: number;
}

const busy = { concurrency: 1000, createsPerSecond: 25, perSecond: 2 };

async function meanOf(
  draws: number,
  run: (seed: number) => Promise<{ times: number; perJob: number; meanLagMs: number }>,
): Promise<Polled> {
  const runs = await Promise.all(Array.from({ length: draws }, (_, index) => run(index + 1)));
  const mean = (pick: (one: (typeof runs)[number]) => number) =>
    runs.reduce((sum, one) => sum + pick(one), 0) / runs.length;
  return { wall: mean(({ times }) => times), reads: mean(({ perJob }) => perJob), lagMs: mean((one) => one.meanLagMs) };
}

/** Jobs that need nothing from each other, of which nothing is known; `learnedMs`: after a run of jobs around that. */
function alike({ kind, count, medianMs, sigma }: Jobs, options: SimulationOptions & { learnedMs?: number }) {
  return meanOf(count > 500 ? 3 : 8, async (seed) => {
    const draw = logNormal(medianMs, sigma, seeded(seed));
    const { learnedMs } = options;
    if (learnedMs === undefined) return simulate(kind, independent(count, draw), { ...options, seed });
    const before = independent(count, logNormal(learnedMs, sigma, seeded(seed + 1000)));
    const first = await simulate(kind, before, { ...options, seed });
    const durations = new Durations(first.durations.keep());
    return simulate(kind, independent(count, draw), { ...options, seed: seed + 500, durations });
  });
}

function layers(sigma: number) {
  return meanOf(8, async (seed) => {
    const draw = logNormal(500, sigma, seeded(seed));
    const steps = layered(10, 50, 500).map((step) => ({ ...step, durationMs: draw() }));
    return simulate('image', steps, { concurrency: 50, seed });
  });
}

const w2 = { kind: 'image', count: 200, medianMs: 3000, sigma: 0.5 };
const voices = { kind: 'voiceover', count: 1000, medianMs: 20_000, sigma: 0.25 };
const videos = { kind: 'video', count: 1000, medianMs: 30_000, sigma: 0.4 };

export const pollingWorkloads: Record<string, () => Promise<Polled>> = {
  'W2 cold': () => alike(w2, { concurrency: 50 }),
  'W2 learned': () => alike(w2, { concurrency: 50, learnedMs: 3000 }),
  'W2, four times slower than learned': () => alike(w2, { concurrency: 50, learnedMs: 750 }),
  'W3, σ 0': () => layers(0),
  'W3, σ 0.3': () => layers(0.3),
  '5 images': () => alike({ kind: 'image', count: 5, medianMs: 12_000, sigma: 0.3 }, { concurrency: 5 }),
  '5 videos': () => alike({ kind: 'video', count: 5, medianMs: 90_000, sigma: 0.3 }, { concurrency: 5 }),
  lists: () => alike(voices, busy),
  'lists, burst': () => alike(videos, { concurrency: 1000, perSecond: 2, answersMs: 1000 }),
  'lists, strangers': () => alike(voices, { ...busy, list: { strangers: 1 } }),
  'lists, short pages': () => alike(voices, { ...busy, list: { pageMost: 20, repeatsLimit: true } }),
};

/** A process of its own, so that it can be run on altered sources: `polling-workloads.ts --run` prints JSON. */
if (process.argv.includes('--run')) {
  const results: Record<string, Polled> = {};
  for (const [name, run] of Object.entries(pollingWorkloads)) results[name] = await run();
  process.stdout.write(JSON.stringify(results));
}
