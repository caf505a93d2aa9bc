import { asSeen, doubtOf, estimate } from '../../src/plan/distribution.ts';
import { type OpenStep, simulateEnds } from '../../src/plan/simulate-ends.ts';
import { logNormal, seeded } from '../rig/random.ts';

/** What it takes to say how much time a run has left, which it does every 5 s: `npx tsx test/bench/time-left.ts`. */
const repetitions = 41;
const draw = logNormal(20_000, 0.5, seeded(1));
const samples = Array.from({ length: 100 }, draw);
const timingOf = (seen: number[], failShare: number) => {
  return { startMs: 500, saveMs: 800, jobs: estimate(asSeen(seen)), doubt: doubtOf(seen), failShare };
};
const short = timingOf(samples, 0);
const long = timingOf(
  samples.map((ms) => 4 * ms),
  0.05,
);

for (const [count, slots] of [[100, 8] as const, [1000, 16] as const, [1000, 50] as const, [10_000, 50] as const]) {
  const half = count / 2;
  const first = Array.from({ length: half }, (_, index): OpenStep => {
    return { timing: short, after: [], ...(index < slots && { ageMs: 3000 }) };
  });
  const steps = [...first, ...first.map((need): OpenStep => ({ timing: long, after: [need] }))];
  const times = Array.from({ length: repetitions }, () => {
    // Of the processor: others on this machine do not count.
    const before = process.cpuUsage();
    simulateEnds(steps, { slots, draws: 64 });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  }).sort((a, b) => a - b);
  const median = times[times.length >> 1] ?? 0;
  process.stdout.write(`${count} open steps, ${slots} at a time: ${median.toFixed(1)} ms\n`);
}
