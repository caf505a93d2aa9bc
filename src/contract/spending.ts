/** Most credits that a person lets be spent, whatever the campaign. Days and months are those of UTC. */
export interface SpendingLimits {
  run?: number;
  day?: number;
  month?: number;
}

/** A limit, and what is left of it. */
export interface SpendingLeft {
  credits: number;
  per: (typeof spans)[number];
  left: number;
  /** Owner of the limit: the engine's workers. Defaults to this user on this machine. */
  of?: 'engine';
}

export const spans = ['run', 'day', 'month'] as const;

/** The limit that leaves least, by what was spent. Undefined: there is none. */
export function tightestOf(limits: SpendingLimits, spent: { day: number; month: number }): SpendingLeft | undefined {
  const left = spans.flatMap((per): SpendingLeft[] => {
    const credits = limits[per];
    return credits === undefined ? [] : [{ credits, per, left: Math.max(0, credits - { run: 0, ...spent }[per]) }];
  });
  return left.sort((a, b) => a.left - b.left)[0];
}

/** The lowest of several limits, for each span of time. */
export function lowestOf(all: readonly SpendingLimits[]): SpendingLimits {
  const lowest: SpendingLimits = {};
  for (const per of spans) {
    const known = all.flatMap((limits) => limits[per] ?? []);
    if (known.length > 0) lowest[per] = Math.min(...known);
  }
  return lowest;
}

/** One purchase, before it leaves. */
export interface Hold {
  /** Idempotency key of the create. */
  key: string;
  /** `null`: nobody knows. */
  credits: number | null;
  /** The expected cost, where nobody knows it. */
  likely: number;
  /** Its create left before: it counts, and nothing holds it back. */
  isSent: boolean;
}

/** `later`: somebody is finding a price out, which may be all that is left; asked again, it waits. Otherwise it is over. */
export type HoldAnswer = 'held' | 'later' | { over: string };
