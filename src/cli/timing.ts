const stages: string[] = [];
let endedAt = 0;

/** Records that a stage of the command has ended. The first stage began with the process. */
export function endStage(name: string): void {
  if (process.env.MEDIABATCH_TIMING !== '1') return;
  const now = performance.now();
  stages.push(`${name} ${Math.round(now - endedAt)}`);
  endedAt = now;
}

/** Returns the duration of each stage in ms; undefined unless `MEDIABATCH_TIMING=1`. */
export function timingText(): string | undefined {
  return stages.length === 0 ? undefined : `timing  ${stages.splice(0).join(', ')} ms\n`;
}
