import type { ReviewData, WantedVerdict } from '../../contract/review.ts';

/** Verdicts that the host does not have, kept by the browser until it has them. */
export interface Kept {
  read(): WantedVerdict[];
  keep(verdict: WantedVerdict): void;
  drop(verdict: Pick<WantedVerdict, 'address' | 'job'>): void;
}

/** All pages from disk share one store: the names begin with the campaign. */
export function keptVerdicts({ campaign, file, assets }: ReviewData): Kept {
  const prefix = `mediabatch verdict ${JSON.stringify([campaign, file])} `;
  const jobs = new Map(assets.map(({ address, job }) => [address, job]));
  const nameOf = ({ address, job }: Pick<WantedVerdict, 'address' | 'job'>) => prefix + JSON.stringify([address, job]);
  return {
    read: () =>
      (attempt(() => Object.keys(localStorage)) ?? []).flatMap((name): WantedVerdict[] => {
        if (!name.startsWith(prefix)) return [];
        const verdict = attempt(() => JSON.parse(localStorage.getItem(name) ?? '') as WantedVerdict);
        const isShown = verdict !== undefined && jobs.get(verdict.address) === verdict.job;
        // It is about an output that another one has replaced.
        if (!isShown) attempt(() => localStorage.removeItem(name));
        return isShown ? [verdict] : [];
      }),
    keep: (verdict) => attempt(() => localStorage.setItem(nameOf(verdict), JSON.stringify(verdict))),
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
