const stages: string[] = [];
let endedAt = 0;

/**
 * Records that a stage of the command has ended; the first stage began with the process. Returns the duration of each
 * stage in ms. Does nothing unless `MEDIABATCH_TIMING=1`.
 */
export function endStage(name: string): string {
  if (process.env.MEDIABATCH_TIMING !== '1') return '';
  const now = performance.now();
  stages.push(`${name} ${Math.round(now - endedAt)}`);
  endedAt = now;
  return `timing  ${stages.join(', ')} ms\n`;
}
