import type { Engine } from '../../cluster/open-engine.ts';
import type { RunRecord } from '../../cluster/runs/run-record.ts';
import { readSeenOnEngine } from '../../disk/lock/engine-note.ts';
import { call, way } from '../../ground/advice.ts';
import { joinLocks } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import { writeLines } from '../../lock/write.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { lockOfRun } from './engine-run.ts';
import { hasNews } from './other-runs.ts';

type Run = Pick<RunRecord, 'id' | 'error' | 'server'>;

interface Where {
  engine: Pick<Engine, 'database' | 'shown'>;
  campaign: Pick<OpenCampaign, 'paths' | 'tell'>;
}

/**
 * Sends the purchases that only the local lock has to an open run. The engine lacks them if its database was restored
 * from an older copy, or if they came here by git. A run that was put aside after an error gets all lines, and is tried
 * again.
 */
export async function giveBackLost({ engine, campaign }: Where, run: Run, lock: Lock): Promise<void> {
  const { database, shown } = engine;
  const record = await lockOfRun(database, run.id);
  const found = await compareRecord(database, run, { path: campaign.paths.lock, known: () => joinLocks(lock, record) });
  if (found.is === 'as it was' && run.error === null && !hasNews(lock, record)) return; // I46 (given)
  const { giveBack } = await import('../../cluster/runs/runs.ts');
  const [, ...lines] = writeLines(lock);
  await giveBack(database, { id: run.id, server: found.server }, lines);
  campaign.tell({ is: 'notice', ...wordsFor(found.is, { shown, isAside: run.error !== null }) });
}

/** Comparison of a run's record on the engine with what this client has seen of it. */
type Found = 'as it was' | 'an older copy, and known here' | 'an older copy';

/** `server`: database server to note as one that has the complete record. */
async function compareRecord(
  database: Engine['database'],
  { id, server }: Run,
  { path, known }: { path: string; known(): Lock },
): Promise<{ is: Found; server: string | null }> {
  const [{ isSameServer, whichServer }, { countLines }, { countJobs }] = await Promise.all([
    import('../../cluster/database/which-server.ts'),
    import('../../cluster/head/lines.ts'),
    import('../../cluster/store/run-mark.ts'),
  ]);
  const now = await whichServer(database);
  const last = readSeenOnEngine(path);
  const seen = last?.run === id ? last : undefined;
  const isMoved = !isSameServer(server, now);
  const isShort = seen !== undefined && (await countLines(database, id, seen.epoch)) < seen.lines; // I46 (seen)
  if (!isMoved && !isShort) return { is: 'as it was', server };
  // A client that first saw the run after the copy was restored has no more lines than the copy.
  const isKnown = seen !== undefined && isSameServer(server, seen.server) && countJobs(known()) >= seen.jobs; // I46 (vouched)
  if (isKnown) return { is: 'an older copy, and known here', server: now };
  return { is: 'an older copy', server: isMoved ? server : null };
}

function wordsFor(found: Found, { shown, isAside }: { shown: string; isAside: boolean }) {
  if (found === 'an older copy') {
    return {
      text: `${shown} has an older copy of this run, or another server has taken over, and nobody here has seen all that it had: its workers buy nothing more for it unless its store says that nothing is missing`,
      hint: [
        'apply in the clone that watched the run gives back what is missing',
        way('what was bought, and no lock knows', call('list jobs', '--unknown')),
      ],
    };
  }
  const why = isAside ? 'had put the run aside' : 'did not know all that was bought';
  return { text: `${shown} ${why}: what the lock here knows was given to it, and its workers go on from there` };
}
