import { logNormal, seeded } from '../rig/random.ts';
import { idealMs, independent, layered } from './steps.ts';
import type { Trial } from './trial.ts';

export interface Workload {
  /** As it is asked for on the command line. */
  id: string;
  trials: Trial[];
}

/** The workloads but for start-up (W5). `repetitions` overrules how often each is measured. */
export function listWorkloads(options: { long: boolean; repetitions?: number }): Workload[] {
  const times = (usual: number) => options.repetitions ?? usual;
  const none = (count: number) => independent(count, () => 0);
  const various = independent(200, logNormal(3000, 0.5, seeded(7)));
  const layers = layered(6, 50, 500);
  const videos = independent(1200, logNormal(20_000, 0.25, seeded(11)));
  const busy = { createsPerSecond: 25, readsPerSecond: 2 };
  const all = ['limit', 'naive', 'mediabatch'] as const;
  const grown = (count: number, name: string, repetitions: number): Trial => ({
    name: `W6 ${name}`,
    title: `${name} steps, jobs of 0 s, 32 at once`,
    short: `${name} images, made at once`,
    steps: none(count),
    concurrency: 32,
    tools: ['limit', 'mediabatch'],
    repetitions: times(repetitions),
  });
  return [
    {
      id: 'W1',
      trials: [
        {
          name: 'W1',
          title: '1,000 steps, jobs of 0 s, 32 at once',
          short: '1,000 images, made at once',
          steps: none(1000),
          concurrency: 32,
          tools: [...all],
          repetitions: times(5),
        },
        {
          name: 'W1 far',
          title: '1,000 steps, jobs of 0 s, 32 at once, over TLS, 40 ms there and back',
          short: '1,000 images, 40 ms by TLS',
          steps: none(1000),
          concurrency: 32,
          oneWayMs: 20,
          tools: ['limit', 'mediabatch'],
          repetitions: times(3),
        },
      ],
    },
    {
      id: 'W2',
      trials: [
        {
          name: 'W2',
          title: '200 steps, jobs log-normal around 3 s (σ 0.5), 50 at once',
          short: '200 images of about 3 s',
          steps: various,
          concurrency: 50,
          tools: [...all, 'learned'],
          repetitions: times(3),
          idealMs: idealMs(various, 50),
        },
      ],
    },
    {
      id: 'W3',
      trials: [
        {
          name: 'W3',
          title: '6 layers of 50 steps that need 3 each, jobs of 0.5 s, 50 at once',
          short: '300 images in six layers',
          steps: layers,
          width: 50,
          concurrency: 50,
          tools: [...all],
          repetitions: times(3),
          idealMs: idealMs(layers, 50),
        },
      ],
    },
    {
      id: 'W4',
      trials: [
        {
          name: 'W4',
          title: '10,000 steps, nothing to do, no requests',
          short: '10,000 steps, nothing to do',
          steps: none(10_000),
          concurrency: 32,
          tools: [...all],
          repetitions: times(5),
          nothingToDo: true,
        },
      ],
    },
    {
      id: 'W6',
      trials: [
        grown(5, '5', 3),
        grown(1000, '1,000', 3),
        grown(10_000, '10,000', 3),
        ...(options.long ? [grown(100_000, '100,000', 1)] : []),
      ],
    },
    {
      id: 'W7',
      trials: [
        {
          name: 'W7',
          title: '64 files of 16 MiB, 16 at once',
          short: '64 files of 16 MiB',
          steps: none(64),
          concurrency: 16,
          stub: { outputBytes: 16 * 1024 ** 2 },
          tools: [...all],
          repetitions: times(5),
        },
      ],
    },
    {
      id: 'lists',
      trials: [
        {
          name: 'lists',
          title: '1,200 videos log-normal around 20 s (σ 0.25), up to 1,000 at once, 25 creates and 2 reads per second',
          short: '1,200 videos of about 20 s',
          steps: videos,
          kind: 'video',
          concurrency: 1000,
          stub: busy,
          tools: ['mediabatch'],
          // One round takes 90 s, and compares with nothing that varies.
          repetitions: 1,
          idealMs: idealMs(videos, 1000, busy.createsPerSecond),
        },
      ],
    },
  ];
}
