import { logNormal, seeded } from '../rig/random.ts';
import { idealMs, independent, layered } from './steps.ts';
import type { Tool, Trial } from './trial.ts';

const peers: Tool[] = ['limit', 'naive', 'mediabatch'];
const withoutNaive: Tool[] = ['limit', 'mediabatch'];

/** The workloads but for start-up (W5), by the name that the command line takes. `repetitions` overrules how often each is measured. */
export function listWorkloads(options: { long: boolean; repetitions?: number }): Map<string, Trial[]> {
  const various = independent(200, logNormal(3000, 0.5, seeded(7)));
  const layers = layered(6, 50, 500);
  const videos = independent(1200, logNormal(20_000, 0.25, seeded(11)));
  const busy = { createsPerSecond: 25, readsPerSecond: 2 };
  const grown = (count: number, name: string): Trial => ({
    name: `W6 ${name}`,
    ...{ title: `${name} steps, jobs of 0 s, 32 at once`, short: `${name} images, made at once` },
    ...{ steps: none(count), concurrency: 32, tools: withoutNaive, repetitions: count > 10_000 ? 1 : 3 },
  });
  const trials: Trial[] = [
    {
      name: 'W1',
      ...{ title: '1,000 steps, jobs of 0 s, 32 at once', short: '1,000 images, made at once' },
      ...{ steps: none(1000), concurrency: 32, tools: peers, repetitions: 5 },
    },
    {
      name: 'W1 far',
      title: '1,000 steps, jobs of 0 s, 32 at once, over TLS, 40 ms there and back',
      short: '1,000 images, 40 ms by TLS',
      ...{ steps: none(1000), concurrency: 32, tools: withoutNaive, repetitions: 3, oneWayMs: 20 },
    },
    {
      name: 'W2',
      ...{ title: '200 steps, jobs log-normal around 3 s (σ 0.5), 50 at once', short: '200 images of about 3 s' },
      ...{ steps: various, concurrency: 50, tools: [...peers, 'learned'], repetitions: 3 },
      idealMs: idealMs(various, 50),
    },
    {
      name: 'W3',
      title: '6 layers of 50 steps that need 3 each, jobs of 0.5 s, 50 at once',
      short: '300 images in six layers',
      ...{ steps: layers, width: 50, concurrency: 50, tools: peers, repetitions: 3, idealMs: idealMs(layers, 50) },
    },
    {
      name: 'W4',
      ...{ title: '10,000 steps, nothing to do, no requests', short: '10,000 steps, nothing to do' },
      ...{ steps: none(10_000), concurrency: 32, tools: peers, repetitions: 5, nothingToDo: true },
    },
    ...[grown(5, '5'), grown(1000, '1,000'), grown(10_000, '10,000')],
    ...(options.long ? [grown(100_000, '100,000')] : []),
    {
      name: 'W7',
      ...{ title: '64 files of 16 MiB, 16 at once', short: '64 files of 16 MiB' },
      ...{ steps: none(64), concurrency: 16, tools: peers, repetitions: 5, stub: { outputBytes: 16 * 1024 ** 2 } },
    },
    {
      name: 'lists',
      title: '1,200 videos log-normal around 20 s (σ 0.25), up to 1,000 at once, 25 creates and 2 reads per second',
      short: '1,200 videos of about 20 s',
      // One round takes 90 s, and compares with nothing that varies.
      ...{ steps: videos, kind: 'video', concurrency: 1000, stub: busy, tools: ['mediabatch'], repetitions: 1 },
      idealMs: idealMs(videos, 1000, busy.createsPerSecond),
    },
  ];
  const workloads = new Map<string, Trial[]>();
  for (const trial of trials) {
    const id = trial.name.split(' ')[0] ?? '';
    const repetitions = id === 'lists' ? 1 : (options.repetitions ?? trial.repetitions);
    workloads.set(id, [...(workloads.get(id) ?? []), { ...trial, repetitions }]);
  }
  return workloads;
}

function none(count: number) {
  return independent(count, () => 0);
}
