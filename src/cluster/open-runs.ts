import type { NotForIt, WorkerNews } from '../contract/worker.ts';
import type { Database } from './database.ts';
import { protocol as ownProtocol } from './protocol.ts';

/** Open runs that are alike for a worker. */
export interface OpenRuns {
  account: string;
  protocol: number;
  /** Id of the store that their files go to; null: to whoever is attached. */
  store: string | null;
  runs: number;
}

interface Taker {
  account: string;
  protocol?: number;
  store?: string | undefined;
}

export function readOpenRuns(db: Database): Promise<OpenRuns[]> {
  return db.query<OpenRuns>(
    `SELECT account, protocol, store, count(*)::int AS runs FROM mediabatch.run WHERE state = 'open'
     GROUP BY account, protocol, store ORDER BY account, protocol, store`,
  );
}

/** Why a worker takes nothing of these runs; undefined: it does. */
export function whyNot(open: OpenRuns, { account, protocol = ownProtocol, store }: Taker): NotForIt | undefined {
  if (open.account !== account) return { is: 'account' };
  if (open.protocol !== protocol) return { is: 'protocol', theirs: open.protocol, own: protocol };
  if (open.store !== null && open.store !== store) return { is: 'store' };
  return undefined;
}

/** Tells of open runs that are not for this worker, once, and again when there are more or others. */
export function makeTeller(taker: Taker & { tell(news: WorkerNews): void }) {
  let told = new Map<string, number>();
  return (open: readonly OpenRuns[]) => {
    const now = new Map<string, number>();
    for (const some of open) {
      const why = whyNot(some, taker);
      if (why === undefined) continue;
      const name = JSON.stringify(why);
      now.set(name, (now.get(name) ?? 0) + some.runs);
    }
    for (const [name, runs] of now) {
      if (runs > (told.get(name) ?? 0)) taker.tell({ is: 'not for it', why: JSON.parse(name) as NotForIt, runs });
    }
    told = now;
  };
}
