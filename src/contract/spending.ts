/** Spending limits in credits that a person sets, over all campaigns. Days and months are in UTC. */
export interface SpendingLimits {
  run?: number;
  day?: number;
  month?: number;
}

export interface SpendingLeft {
  credits: number;
  per: (typeof spans)[number];
  left: number;
  /** Owner of the limit: the engine's workers. Default: this user on this machine. */
  of?: 'engine';
}

export const spans = ['run', 'day', 'month'] as const;

/** Returns the limit with the fewest credits left after `spent`; `undefined` if there is none. */
export function tightestOf(limits: SpendingLimits, spent: { day: number; month: number }): SpendingLeft | undefined {
  const left = spans.flatMap((per): SpendingLeft[] => {
    const credits = limits[per];
    return credits === undefined ? [] : [{ credits, per, left: Math.max(0, credits - { run: 0, ...spent }[per]) }];
  });
  return left.sort((a, b) => a.left - b.left)[0];
}

export function lowestOf(all: readonly SpendingLimits[]): SpendingLimits {
  const lowest: SpendingLimits = {};
  for (const per of spans) {
    const known = all.flatMap((limits) => limits[per] ?? []);
    if (known.length > 0) lowest[per] = Math.min(...known);
  }
  return lowest;
}

/** A purchase whose credits are to be held, before its create request leaves. */
export interface Hold {
  key: string;
  credits: number | null;
  /** Expected cost, if the price is unknown. */
  likely: number;
  /** True if the create request has left before: its credits are counted, and it is never refused. */
  isSent: boolean;
}

/**
 * `later`: another process probes a price, which may cost all that is left; the next call waits for it. `over`: why the
 * purchase exceeds a limit.
 */
export type HoldAnswer = 'held' | 'later' | { over: string };
