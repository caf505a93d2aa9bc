import { median } from './measure.ts';
import type { Run, Runs, Tool, Trial } from './trial.ts';

/** The medians of one tool over its valid runs; ratios are medians of the ratios of runs made one after the other. */
export interface Summary {
  tool: Tool;
  valid: number;
  invalid: string[];
  wallMs: number;
  cpuMs: number;
  maxRssMiB: number;
  /** Status and list reads for each step, refused ones included. */
  readsPerStep: number;
  detectionMs: number;
  /** Wall time to that of the jobs alone; NaN where they take none. */
  toIdeal: number;
  toLimit: { wall: number; cpu: number };
  toNaive: { wall: number; cpu: number };
}

/** What was measured, by trial. */
export type Results = Map<string, Summary[]>;

type Valid = Exclude<Run, { invalid: string }>;

export function summarize(trial: Trial, runs: Runs): Summary[] {
  return trial.tools.map((tool) => {
    const own = runs.get(tool) ?? [];
    const valid = own.filter((run): run is Valid => !('invalid' in run));
    const of = (pick: (run: Valid) => number) => median(valid.map(pick));
    const wallMs = of(({ sample }) => sample.wallMs);
    return {
      tool,
      valid: valid.length,
      invalid: own.flatMap((run) => ('invalid' in run ? [run.invalid] : [])),
      wallMs,
      cpuMs: of(({ sample }) => sample.cpuMs),
      maxRssMiB: of(({ sample }) => sample.maxRssMiB),
      readsPerStep: of(({ stats }) => (stats.polls + stats.listReads) / trial.steps.length),
      detectionMs: of(({ stats }) => stats.meanDetectionMs),
      toIdeal: wallMs / (trial.idealMs ?? Number.NaN),
      toLimit: compare(own, runs.get('limit') ?? []),
      toNaive: compare(own, runs.get('naive') ?? []),
    };
  });
}

function compare(own: Run[], other: Run[]): { wall: number; cpu: number } {
  const pairs = own.flatMap((run, index) => {
    const beside = other[index];
    return 'invalid' in run || beside === undefined || 'invalid' in beside
      ? []
      : [[run.sample, beside.sample] as const];
  });
  return {
    wall: median(pairs.map(([a, b]) => a.wallMs / b.wallMs)),
    cpu: median(pairs.map(([a, b]) => a.cpuMs / b.cpuMs)),
  };
}
