import type { Summary } from './summary.ts';
import type { Tool } from './trial.ts';

export interface Goal {
  trial: string;
  text: string;
  most: number;
  /** NaN: nothing valid was measured, which is missed as well. */
  value: number;
}

/** What was measured, by trial. */
export type Results = Map<string, Summary[]>;

type Pick = (summary: Summary, results: Results) => number;
type Promised = readonly [trial: string, tool: Tool, text: string, most: number, pick: Pick];

const wallToLimit: Pick = ({ toLimit }) => toLimit.wall;
const toIdeal: Pick = (summary) => summary.toIdeal;
const memory: Pick = ({ maxRssMiB }) => maxRssMiB;

/** Time of one step, as a multiple of that with 1,000 steps. */
const growth =
  (factor: number): Pick =>
  ({ wallMs }, results) => {
    const base = results.get('W6 1,000')?.find(({ tool }) => tool === 'mediabatch')?.wallMs ?? Number.NaN;
    return wallMs / factor / base;
  };

/** What is promised of mediabatch; those of start-up are in `start.ts`. */
const promised: Promised[] = [
  ['W1', 'mediabatch', 'wall × limit', 1.7, wallToLimit],
  ['W1', 'mediabatch', 'wall × naive', 0.85, ({ toNaive }) => toNaive.wall],
  ['W1', 'mediabatch', 'CPU × naive', 0.85, ({ toNaive }) => toNaive.cpu],
  ['W1 far', 'mediabatch', 'wall × limit', 1.2, wallToLimit],
  ['W2', 'mediabatch', 'wall × ideal, cold', 1.06, toIdeal],
  ['W2', 'mediabatch', 'reads per job, cold', 4, ({ readsPerStep }) => readsPerStep],
  ['W2', 'learned', 'wall × ideal, learned', 1.04, toIdeal],
  ['W3', 'mediabatch', 'wall × ideal', 1.15, toIdeal],
  ['W4', 'mediabatch', 'wall × limit', 3, wallToLimit],
  ['W6 100,000', 'mediabatch', 'time per step × that at 1,000', 1.3, growth(100)],
  ['W6 100,000', 'mediabatch', 'wall × limit', 3.3, wallToLimit],
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
