import type { Engine } from '../../cluster/open-engine.ts';
import type { StoreFiles } from '../../cluster/store.ts';
import type { RunEvent, RunFact } from '../../contract/event.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { removeEngineNote } from '../../disk/lock/engine-note.ts';
import type { GraphOutline } from '../../graph/outline.ts';
import { messageOf } from '../../ground/values.ts';
import { readLock } from '../../lock/read.ts';
import { writeLines } from '../../lock/write.ts';
import { advise, call } from '../../plan/advice.ts';
import { replacedDigests } from '../../plan/make-order.ts';
import type { Access } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { outputsOf } from '../outputs-of.ts';
import type { LoadedLock } from '../read-lock.ts';
import type { RunResult } from '../run.ts';
import { openRunLock, settleLock } from '../settle.ts';
import { FileBringer, type FileToBring } from './bring-files.ts';
import { filesNotHere, notBroughtText, notHereText } from './files-of-run.ts';
import { serveOwnFiles } from './serve-own-files.ts';

export interface WatchOptions {
  /** Id of the run. */
  run: string;
  outline: GraphOutline;
  loaded: LoadedLock;
  /** How its files are fetched, where they are saved here. Absent: the run has ended. */
  access: Access | undefined;
  /** Where the workers put the files of this campaign. */
  store: StoreFiles | undefined;
  /** Aborted: nobody watches any more; the run goes on. */
  signal: AbortSignal;
  on(event: RunEvent): void;
}

/**
 * Watches a run that an engine carries out. Each line of its lock is appended to the lock here as it comes; when the run has
 * ended, the lock is settled as after any run.
 */
export async function watchOnEngine(engine: Engine, campaign: OpenCampaign, options: WatchOptions): Promise<RunResult> {
  const { run, outline, loaded, signal, on } = options;
  const { paths, service, tell } = campaign;
  const lock = { ...loaded.lock, ...(service !== undefined && { service }) };
  const known = new Set(writeLines(lock));
  const file = await openRunLock(paths.lock, { loaded, lock, claims: true });
  const { store } = options;
  const bringer = store === undefined ? undefined : makeBringer(store, campaign, signal);
  const news: string[] = [];
  const kindOf = new Map<string, string>();
  const savedBy = (event: RunEvent): FileToBring[] => {
    if (event.event === 'step-started') kindOf.set(event.address, event.kind);
    if (event.event !== 'output-saved') return [];
    const { address, output } = event;
    const kind = kindOf.get(address);
    return kind === undefined ? [] : [{ address, kind, output, replaces: replacedDigests(lock.steps.get(address)) }];
  };
  const hand = await startHand(engine, campaign, options);
  try {
    const { watchRun } = await import('../../cluster/watch-run.ts');
    const record = await watchRun(engine.database, run, {
      signal,
      async onLines(lines) {
        const fresh = lines.filter((line) => !known.has(line));
        news.push(...fresh);
        await Promise.all(fresh.map((line) => file.append(line)));
      },
      onEvents(events) {
        bringer?.add(events.flatMap(savedBy));
        // Its end is told when the lock is settled.
        events.filter(({ event }) => event !== 'run-ended').forEach(on);
      },
    });
    if (record === undefined) throw unknownRun(run, engine);
    await bringer?.end();
    if (record !== 'left' && record.error !== null) throw putAside(record.error, { engine, lock: paths.lock });
    if (record === 'left') return { exit: exitCodes.interrupted, outcomes: new Map() };
    // Not from the file, which git or an editor may have written since: what was mirrored must not be lost with it.
    const now = { ...lock, ...readLock(paths.lock, Buffer.from([...known, ...news].join(''))).lock };
    const emit = (fact: RunFact) => on({ at: new Date().toISOString(), ...fact });
    const { exit, outcomes, end } = record.result ?? { exit: exitCodes.internalError, outcomes: {} };
    const notHere = await filesNotHere(campaign, now, outcomes);
    bringer?.add(notHere);
    await bringer?.end();
    const missing = bringer?.missing ?? notHere.map(({ output }) => output.path);
    if (missing.length > 0)
      tell({ is: 'notice', text: bringer === undefined ? notHereText(missing, record) : notBroughtText(bringer) });
    await settleLock(file, { ledger: { lock: now, recorded: news.length > 0 }, outline, loaded, emit });
    await removeEngineNote(paths.lock);
    // Whoever does not ask for the files of a store has their reasons.
    const isShort = missing.length > 0 && (bringer !== undefined || record.store === null);
    const own = exit === exitCodes.done && isShort ? exitCodes.someFailed : exit; // I10
    const told = end && { ...end, exit: own, ...(isShort && { unsaved: (end.unsaved ?? 0) + missing.length }) };
    if (told !== undefined) on(told);
    return { exit: own, outcomes: new Map(Object.entries(outcomes)), ...(told !== undefined && { end: told }) };
  } catch (error) {
    if (signal.aborted) return { exit: exitCodes.interrupted, outcomes: new Map() };
    throw error;
  } finally {
    await hand.stop();
    await file.close();
  }
}

/** Saves files here while somebody watches, if the run has no store for them. */
async function startHand(
  engine: Engine,
  campaign: OpenCampaign,
  { run, access, signal }: Pick<WatchOptions, 'run' | 'access' | 'signal'>,
): Promise<{ stop(): Promise<void> }> {
  const { readRun } = await import('../../cluster/runs.ts');
  const record = await readRun(engine.database, run);
  if (record?.state !== 'open' || record.store !== null || access === undefined) return { stop: async () => {} };
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const served = serveOwnFiles(engine, campaign, { name: record.campaign, access, signal: until }).catch(
    (error: unknown) => {
      if (!until.aborted)
        campaign.tell({ is: 'notice', text: `no files are saved here any more: ${messageOf(error)}` });
    },
  );
  return {
    async stop() {
      over.abort();
      await served;
    },
  };
}

function makeBringer(from: StoreFiles, campaign: OpenCampaign, signal: AbortSignal): FileBringer {
  const { paths, tell } = campaign;
  return new FileBringer({ from, to: paths.outputs, outputs: outputsOf(campaign), tell, signal });
}

function putAside(error: string, { engine, lock }: { engine: Engine; lock: string }): CampaignError {
  return new CampaignError({
    code: 'MB3704',
    message: `the workers on ${engine.shown} cannot go on with this run: ${error}`,
    hint: advise`it stays open, nothing is lost, and it is tried again each minute: ${call('apply')} attaches to it again`,
    lock,
  });
}

function unknownRun(run: string, { shown }: Engine): CampaignError {
  return new CampaignError({
    code: 'MB3702',
    message: `${shown} does not know the run ${run} of this campaign`,
    hint: advise`if the database was put back from a backup or made anew, what the run bought since may be known to nobody: look at ${call('jobs', '--unknown')}, then remove the note with ${call('unlock', '--id', run)}`,
  });
}
