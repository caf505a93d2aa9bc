/** A user's spending limits in credits, shared by all campaigns. Days and months are in UTC. */
export interface SpendingLimits {
  run?: number;
  day?: number;
  month?: number;
}

export interface SpendingLeft {
  credits: number;
  per: (typeof spans)[number];
  left: number;
  /** `engine`: the limit was set for the engine's workers. Omitted for a limit of the user on this machine. */
  of?: 'engine';
}

export const spans = ['run', 'day', 'month'] as const;

export function tightestOf(limits: SpendingLimits, spent: { day: number; month: number }): SpendingLeft | undefined {
  const left = spans.flatMap((per): SpendingLeft[] => {
    const credits = limits[per];
    return credits === undefined ? [] : [{ credits, per, left: Math.max(0, credits - { run: 0, ...spent }[per]) }];
  });
  return left.sort((a, b) => a.left - b.left)[0];
}

export interface Hold {
  key: string;
  credits: number | null;
  likely: number;
  /** True if the create request was sent before. No limit refuses such a request. */
  isSent: boolean;
}

/** `later`: another process probes the price; call again. `over`: the limit that the purchase would exceed. */
export type HoldAnswer = 'held' | 'later' | { over: string };
