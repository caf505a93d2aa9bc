import type { ReviewData, WantedVerdict } from '../../contract/review.ts';

/** Verdicts that the host does not have, kept by the browser until it has them. */
export interface Kept {
  read(): WantedVerdict[];
  keep(verdict: WantedVerdict): void;
  drop(verdict: Pick<WantedVerdict, 'address' | 'job'>): void;
}

/** All pages from disk share one store: the names begin with the campaign. */
export function keptVerdicts({ campaign, file, assets }: ReviewData): Kept {
  const prefix = `mediabatch verdict ${JSON.stringify([campaign, file]).slice(0, -1)}`;
  const nameOf = ({ address, job }: Pick<WantedVerdict, 'address' | 'job'>) =>
    `${prefix},${JSON.stringify(address)},${JSON.stringify(job)}]`;
  return {
    read: () =>
      assets.flatMap(({ address, job }): WantedVerdict[] => {
        const text = job === undefined ? null : attempt(() => localStorage.getItem(nameOf({ address, job })));
        const verdict = text ? attempt(() => JSON.parse(text) as Omit<WantedVerdict, 'address' | 'job'>) : undefined;
        return verdict && job !== undefined ? [{ ...verdict, address, job }] : [];
      }),
    keep: ({ address, job, ...verdict }) =>
      attempt(() => localStorage.setItem(nameOf({ address, job }), JSON.stringify(verdict))),
    drop: (verdict) => attempt(() => localStorage.removeItem(nameOf(verdict))),
  };
}

/** A browser may have its store switched off, or full: the page works without. */
function attempt<Value>(action: () => Value): Value | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
