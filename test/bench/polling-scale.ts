import { logNormal, seeded } from '../rig/random.ts';
import { type Simulated, type SimulationOptions, simulate } from '../rig/simulate.ts';
import { table } from './print.ts';
import { independent } from './steps.ts';

/**
 * Thousands of videos in flight at a service that bears ten reads a second, in virtual time: `npx tsx
 * test/bench/polling-scale.ts [--all] [SEEDS]`. Ends with 1 when a goal is missed. CPU is that of poller and simulation together.
 */
interface Workload {
  name: string;
  count: number;
  medianMs: number;
  options: Partial<SimulationOptions>;
}

const large: Workload = { name: '10,000', count: 10_000, medianMs: 300_000, options: { createsPerSecond: 100 } };
const small: Workload = { name: '1,000', count: 1000, medianMs: 300_000, options: { createsPerSecond: 10 } };
const others: Workload[] = [
  { ...large, name: '10,000, 200 ms per read', options: { createsPerSecond: 100, list: { readMs: 200 } } },
  { ...large, name: '10,000, as many of others', options: { createsPerSecond: 100, list: { strangers: 1 } } },
  { ...large, name: '10,000, created in any order', options: { createsPerSecond: 100, answersMs: 5000 } },
  { ...large, name: '10,000 around 2 min', medianMs: 120_000 },
  { ...large, name: '10,000 around 1 min, at once', medianMs: 60_000, options: {} },
];
const goals = { lagMs: 15_000, reads: 0.25, cpuTimes: 2 };

const args = process.argv.slice(2);
const seeds = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 3);

async function measure({ count, medianMs, options }: Workload) {
  const runs: (Simulated & { cpuMs: number })[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const steps = independent(count, logNormal(medianMs, 0.4, seeded(seed)));
    const before = process.cpuUsage();
    const run = await simulate('video', steps, { concurrency: count, perSecond: 10, seed, ...options });
    const { user, system } = process.cpuUsage(before);
    runs.push({ ...run, cpuMs: (user + system) / 1000 / count });
  }
  const mean = (pick: (run: (typeof runs)[number]) => number) =>
    runs.reduce((sum, run) => sum + pick(run), 0) / runs.length;
  return {
    lagMs: mean(({ meanLagMs }) => meanLagMs),
    reads: mean(({ perJob }) => perJob),
    refused: mean(({ refused }) => refused),
    times: mean(({ times }) => times),
    thoughts: mean(({ thoughtsPerJob }) => thoughtsPerJob),
    cpuMs: mean(({ cpuMs }) => cpuMs),
  };
}

// The first run also compiles.
await measure({ ...small, count: 300 });
const base = await measure(small);
const main = await measure(large);
const measured = [[small, base] as const, [large, main] as const];
if (args.includes('--all')) for (const workload of others) measured.push([workload, await measure(workload)]);
const rows = measured.map(([{ name }, of]) => [
  name,
  (of.lagMs / 1000).toFixed(1),
  of.reads.toFixed(3),
  of.refused.toFixed(0),
  of.times.toFixed(3),
  of.thoughts.toFixed(0),
  of.cpuMs.toFixed(2),
]);
const head = ['videos', 's late', 'reads per job', '429s', '× ideal', 'looks per job', 'CPU, ms per job'];
process.stdout.write(`${table([head, ...rows])}\n`);
const isMet = main.lagMs <= goals.lagMs && main.reads <= goals.reads && main.cpuMs <= goals.cpuTimes * base.cpuMs;
if (!isMet) process.exitCode = 1;
