/** When to look at a job. The service asks for a poll “every few seconds”. */
export interface PollPolicy {
  /** Ms from the create to the first look. `random` is in [0, 1). */
  firstMs(typicalMs: number, random: number): number;
  /** Ms to the look after `polls` earlier ones. */
  nextMs(typicalMs: number, polls: number, random: number): number;
}

const shortestMs = 2000;
const longestMs = 60_000;

/**
 * The interval grows from 2 s to an eighth of what a job of the kind typically takes, so that a job is noticed within
 * about a tenth of its duration whether it is fast or slow. A fifth of jitter keeps many jobs from asking at once.
 */
export function typicalPolicy(): PollPolicy {
  const jitter = (ms: number, random: number) => Math.round(ms * (0.9 + random / 5));
  return {
    firstMs: (_typicalMs, random) => jitter(shortestMs, random),
    nextMs(typicalMs, polls, random) {
      const ceiling = Math.min(longestMs, Math.max(shortestMs, typicalMs / 8));
      return jitter(Math.min(ceiling, shortestMs * 1.25 ** polls), random);
    },
  };
}

/** `--poll-interval MS`: always the same. */
export function fixedPolicy(intervalMs: number): PollPolicy {
  return { firstMs: () => intervalMs, nextMs: () => intervalMs };
}
