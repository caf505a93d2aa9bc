import type { Results, Summary } from './summary.ts';
import type { Tool } from './trial.ts';

export interface Goal {
  trial: string;
  text: string;
  most: number;
  /** NaN: nothing valid was measured, which is missed as well. */
  value: number;
}

type Pick = (summary: Summary, results: Results) => number;
type Promised = readonly [trial: string, tool: Tool, text: string, most: number, pick: Pick];

const wallToLimit: Pick = ({ toLimit }) => toLimit.wall;
const toIdeal: Pick = (summary) => summary.toIdeal;
const memory: Pick = ({ maxRssMiB }) => maxRssMiB;

/** CPU of one step, as a multiple of that in another trial with a `factor`-th of the steps. */
const growth =
  (trial: string, factor: number): Pick =>
  ({ cpuMs }, results) => {
    const base = results.get(trial)?.find(({ tool }) => tool === 'mediabatch')?.cpuMs ?? Number.NaN;
    return cpuMs / factor / base;
  };

/** What is promised of mediabatch; those of start-up are in `start.ts`. */
const promised: Promised[] = [
  ['W1', 'mediabatch', 'wall × limit', 1.8, wallToLimit],
  ['W1', 'mediabatch', 'CPU × naive', 1, ({ toNaive }) => toNaive.cpu],
  ['W1 far', 'mediabatch', 'wall × limit', 1.2, wallToLimit],
  ['W2', 'mediabatch', 'wall × ideal, cold', 1.12, toIdeal],
  ['W2', 'mediabatch', 'reads per job, cold', 3.7, ({ readsPerStep }) => readsPerStep],
  ['W2', 'learned', 'wall × ideal, learned', 1.04, toIdeal],
  ['W3', 'mediabatch', 'wall × ideal', 1.15, toIdeal],
  ['W4', 'mediabatch', 'wall × limit', 2.2, wallToLimit],
  ['W6 5', 'mediabatch', 'memory, MiB', 85, memory],
  ['W6 10,000', 'mediabatch', 'CPU × limit', 2.2, ({ toLimit }) => toLimit.cpu],
  ['W6 10,000', 'mediabatch', 'memory, MiB', 140, memory],
  ['W6 100,000', 'mediabatch', 'CPU per step × that at 10,000', 1.1, growth('W6 10,000', 10)],
  ['W6 100,000', 'mediabatch', 'memory, MiB', 400, memory],
  ['W7', 'mediabatch', 'wall × limit', 1.3, wallToLimit],
  ['W7', 'mediabatch', 'memory, MiB', 130, memory],
  ['lists', 'mediabatch', 'mean detection, ms', 2000, ({ detectionMs }) => detectionMs],
  ['lists', 'mediabatch', 'reads per job', 0.15, ({ readsPerStep }) => readsPerStep],
  ['lists', 'mediabatch', 'wall × ideal', 1.05, toIdeal],
];

/** The goals of what was measured, and only of that. */
export function judge(results: Results): Goal[] {
  return promised.flatMap(([trial, tool, text, most, pick]) => {
    const summaries = results.get(trial);
    if (summaries === undefined) return [];
    const own = summaries.find((summary) => summary.tool === tool);
    const isWhole = own !== undefined && own.valid > 0 && own.invalid.length === 0;
    return [{ trial, text, most, value: isWhole ? pick(own, results) : Number.NaN }];
  });
}

export function isMet({ value, most }: Goal): boolean {
  return value <= most;
}
