import type { ReviewData, WantedVerdict } from '../../contract/review.ts';
import { plainNote } from '../model/judge.ts';

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
        const verdict = attempt(() => readVerdict(JSON.parse(localStorage.getItem(name) ?? '')));
        const isShown =
          verdict?.job !== undefined && jobs.get(verdict.address) === verdict.job && nameOf(verdict) === name;
        // It is about an output that another one has replaced, or was written by whoever else was served at this port.
        if (!isShown) attempt(() => localStorage.removeItem(name));
        return isShown ? [verdict] : [];
      }),
    keep: (verdict) => attempt(() => localStorage.setItem(nameOf(verdict), JSON.stringify(verdict))),
    drop: (verdict) => attempt(() => localStorage.removeItem(nameOf(verdict))),
  };
}

/** Reads a verdict out of the storage, which can hold anything: whether it names what is shown is left to the caller. */
function readVerdict({ address, is, job, note }: WantedVerdict): WantedVerdict | undefined {
  if (!['picked', 'rejected', 'undecided'].includes(is)) return undefined;
  return { address, is, job, ...(note !== undefined && { note: plainNote(String(note)) }) };
}

/** A browser may have its store switched off, or full: the page works without. */
function attempt<Value>(action: () => Value): Value | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
