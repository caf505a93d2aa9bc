import type { RunTimes } from '../../../../src/report/run/run-time.ts';
import { type SimulatedTask, simulateRun, Viewer } from './simulated-run.ts';

export interface Size {
  columns: number;
  rows: number;
}

/** Three campaigns: every step has a row, every task has one, and there are more tasks than rows. */
export const few: SimulatedTask[] = [
  { id: 'logo', kind: 'upload', steps: 1, seconds: 1, credits: 0 },
  {
    id: 'hero',
    steps: 5,
    seconds: 20,
    credits: 2,
    fails: (index) => (index === 2 ? 'refused by moderation' : undefined),
  },
  { id: 'cover', steps: 2, seconds: 30, credits: 2, after: 'hero' },
  { id: 'theme', kind: 'music', steps: 2, seconds: 60, credits: 12 },
];
export const many: SimulatedTask[] = [
  { id: 'hero', steps: 120, seconds: 20, credits: 2 },
  { id: 'teaser', steps: 120, seconds: 60, credits: 20, kept: 60 },
  {
    id: 'voice',
    steps: 110,
    seconds: 10,
    credits: 2,
    fails: (index) => (index % 20 === 7 ? 'text too long for this voice' : undefined),
  },
  { id: 'song', steps: 30, seconds: 90, credits: 12, after: 'voice' },
  { id: 'a-task-with-a-long-name', steps: 110, seconds: 15, credits: 2, after: 'teaser' },
  { id: 'größe', steps: 10, seconds: 15, credits: 2, after: 'song' },
];
export const huge: SimulatedTask[] = [
  ...Array.from(
    { length: 25 },
    (_, index): SimulatedTask => ({
      id: `shop-${index + 1}`,
      steps: 400,
      seconds: 6 + index,
      credits: 2,
      kept: index < 4 ? 400 : 0,
      fails: (step) => (index % 3 === 1 && step % 90 === 5 ? `timed out after ${index} min` : undefined),
    }),
  ),
];

export const times: RunTimes = {
  remaining: () => ({ lowMs: 5 * 60_000, highMs: 7 * 60_000 }),
  usual: (address) => (address.startsWith('theme') ? 20_000 : 30_000),
};

/** Runs are played again and again, at several sizes. */
const played = new Map<string, ReturnType<typeof simulateRun>>();

export function watch(
  tasks: SimulatedTask[],
  size: Size,
  more: { budget?: number; concurrency?: number; page?: string } = {},
) {
  const { page, ...options } = more;
  const name = JSON.stringify([tasks, options]);
  const run = played.get(name) ?? simulateRun(tasks, options);
  played.set(name, run);
  return new Viewer(run, { ...size, times, ...(page !== undefined && { page }) });
}
