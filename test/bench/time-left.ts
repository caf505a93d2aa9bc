import { expectEnd, type OpenStep } from '../../src/plan/time-left.ts';
import { logNormal, seeded } from '../rig/random.ts';

/** Processor time to compute the time left of a run, at most 5 ms: `npx tsx test/bench/time-left.ts`. */
const repetitions = 41;
const draw = logNormal(20_000, 0.5, seeded(1));
const short = Array.from({ length: 100 }, draw).sort((a, b) => a - b);
const long = short.map((ms) => 4 * ms);

for (const [count, slots] of [[100, 8] as const, [1000, 16] as const, [1000, 50] as const, [10_000, 50] as const]) {
  const first = Array.from({ length: count / 2 }, (_, index): OpenStep => {
    return { samples: short, after: [], ...(index < slots && { ageMs: 3000 }) };
  });
  const steps = [...first, ...first.map((need): OpenStep => ({ samples: long, after: [need] }))];
  const times = Array.from({ length: repetitions }, () => {
    // Of the processor: others on this machine do not count.
    const before = process.cpuUsage();
    expectEnd(steps, slots);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  }).sort((a, b) => a - b);
  process.stdout.write(`${count} open steps, ${slots} at a time: ${times[times.length >> 1]?.toFixed(1)} ms\n`);
}
