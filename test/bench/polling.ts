import { Durations } from '../../src/service/polling/durations.ts';
import { logNormal, seeded } from '../rig/random.ts';
import { type Simulated, simulate } from '../rig/simulate.ts';
import { independent, layered } from './steps.ts';

/**
 * What polling alone makes of W2 and W3, in virtual time: `npx tsx test/bench/polling.ts [--choose] [DRAWS]`. Draws to choose
 * constants by (`--choose`) are others than those to report.
 */
const args = process.argv.slice(2);
const count = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 60);
const firstSeed = args.includes('--choose') ? 10_001 : 1;

const results = { cold: [] as Simulated[], same: [] as Simulated[], learned: [] as Simulated[] };
for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
  const draw = logNormal(3000, 0.5, seeded(seed));
  const steps = independent(200, draw);
  const first = await simulate('image', steps, { concurrency: 50, seed });
  const durations = () => new Durations(first.durations.keep());
  results.cold.push(first);
  results.same.push(await simulate('image', steps, { concurrency: 50, seed: seed + 500, durations: durations() }));
  const others = independent(200, draw);
  results.learned.push(await simulate('image', others, { concurrency: 50, seed: seed + 500, durations: durations() }));
}
tell('W2, cold', results.cold);
tell('W2, the same jobs again', results.same);
tell('W2, other jobs of the same kind', results.learned);
for (const [name, sigma] of [['W3', 0] as const, ['W3, σ 0.3', 0.3] as const]) {
  const layers: Simulated[] = [];
  const again: Simulated[] = [];
  for (let seed = firstSeed; seed < firstSeed + count / 6; seed += 1) {
    const steps = layered(10, 50, 500);
    const draw = logNormal(500, sigma, seeded(seed));
    for (const step of steps) step.durationMs = draw();
    const first = await simulate('image', steps, { concurrency: 50, seed });
    layers.push(first);
    const durations = new Durations(first.durations.keep());
    again.push(await simulate('image', steps, { concurrency: 50, seed: seed + 500, durations }));
  }
  tell(name, layers);
  tell(`${name}, learned`, again);
}

function tell(name: string, of: Simulated[]): void {
  const mean = (pick: (one: Simulated) => number) => of.reduce((sum, one) => sum + pick(one), 0) / of.length;
  const times = mean((one) => one.times);
  const error = Math.sqrt(mean((one) => (one.times - times) ** 2) / of.length);
  const looks = mean((one) => one.perJob).toFixed(2);
  const lag = mean((one) => one.meanLagMs).toFixed(0);
  process.stdout.write(
    `${name.padEnd(34)} ${times.toFixed(4)} ±${error.toFixed(4)} × ideal, ${looks} looks, ${lag} ms late\n`,
  );
}
