import { readEngineState } from '../../cluster/engine-state.ts';
import type { Engine } from '../../cluster/open-engine.ts';
import type { RunRecord } from '../../cluster/runs/run-record.ts';
import { readRun } from '../../cluster/runs/runs.ts';
import { watchRun } from '../../cluster/runs/watch-run.ts';
import type { StoreFiles } from '../../cluster/store/store-marker.ts';
import { systemClock } from '../../contract/clock.ts';
import type { EngineRun } from '../../contract/engine-state.ts';
import type { RunEvent, RunFact } from '../../contract/event.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { removeEngineNote } from '../../disk/lock/engine-note.ts';
import type { GraphOutline } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import { defined, messageOf } from '../../ground/values.ts';
import type { Lock } from '../../lock/record.ts';
import { replacedDigests } from '../../plan/assemble.ts';
import { shortList } from '../../report/safe-text.ts';
import type { Access } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { outputFilesOf } from '../outputs-on-disk.ts';
import type { LoadedLock } from '../read-lock.ts';
import type { RunResult } from '../run.ts';
import { FileFetcher, findMissingFiles, type MissingFile, serveOwnFiles } from './files-of-run.ts';
import { MirroredLock } from './mirrored-lock.ts';
import { keepSeen } from './record-of-run.ts';

interface WatchOptions {
  run: string;
  name: string;
  outline: GraphOutline;
  loaded: LoadedLock;
  /** Omitted if the run has ended, so that this client downloads no files for the workers of the run. */
  access: Access | undefined;
  store: StoreFiles | undefined;
  storeName?: string | undefined;
  signal: AbortSignal;
  on(event: RunEvent): void;
}

interface Watched {
  mirror: MirroredLock;
  bringer: FileFetcher | undefined;
}

/** Watches a run until it ends. Copies its lines to the local lock and its files to the output folder. */
export async function watchOnEngine(engine: Engine, campaign: OpenCampaign, options: WatchOptions): Promise<RunResult> {
  const { name, outline, loaded, store, signal, on } = options;
  const { paths, notify } = campaign;
  const mirror = await MirroredLock.open(campaign, loaded, name);
  const bringer =
    store && new FileFetcher({ from: store, to: paths.outputs, outputs: outputFilesOf(campaign), notify, signal });
  const ending = { outline, emit: (fact: RunFact) => on({ at: new Date().toISOString(), ...fact }) };
  const left: RunResult = { exit: exitCodes.interrupted, outcomes: new Map() };
  try {
    const record = await follow(engine, campaign, options, { mirror, bringer });
    await bringer?.end();
    if (record === 'left') return left;
    const { missing, isShort } = await fetchRest(campaign, record, { mirror, bringer });
    await mirror.settle(ending);
    await removeEngineNote(paths.lock);
    const { exit, outcomes, end } = resultOf(record);
    const lost = doneWithoutRecord(mirror.lock, outcomes);
    if (lost.length > 0) notify({ is: 'notice', text: lostText(lost) });
    const here = exit === exitCodes.done && isShort ? exitCodes.someFailed : exit; // I10
    const own = lost.length > 0 ? exitCodes.needsDecision : here;
    const ended = end && { ...end, exit: own, ...(isShort && { unsaved: (end.unsaved ?? 0) + missing }) };
    if (ended !== undefined) on(ended);
    return { exit: own, outcomes: new Map(Object.entries(outcomes)), ...defined({ end: ended }) };
  } catch (error) {
    if (signal.aborted) return left;
    throw error;
  } finally {
    await mirror.close(ending);
  }
}

/** Returns the ended run, or `left` after an abort. Throws if no worker can continue the run. */
async function follow(
  engine: Engine,
  campaign: OpenCampaign,
  options: WatchOptions,
  { mirror, bringer }: Watched,
): Promise<RunRecord | 'left'> {
  const { run, loaded, signal, on } = options;
  const { paths, notify } = campaign;
  const fileOf = (event: RunEvent): MissingFile[] => {
    const record = event.event === 'output-saved' ? mirror.steps.get(event.address) : undefined;
    if (event.event !== 'output-saved' || record === undefined) return [];
    return [{ record, output: event.output, replaces: replacedDigests(loaded.lock.steps.get(event.address)) }];
  };
  const seen = await keepSeen(engine.database, paths.lock, { run, steps: () => mirror.steps });
  const over = new AbortController();
  const beside = workBeside(engine, campaign, { ...options, signal: AbortSignal.any([signal, over.signal]) });
  try {
    const record = await watchRun(engine.database, run, {
      signal,
      async onLines(lines, read) {
        const news = await mirror.add(lines);
        if (read !== undefined) seen.note(read);
        return news;
      },
      onPaused: (by) => notify({ is: 'notice', text: by === undefined ? 'the run continues' : pausedText(by) }),
      onEvents(events) {
        bringer?.add(events.flatMap(fileOf));
        // The end of the run is reported only after its last lines are in the local lock.
        events.filter(({ event }) => event !== 'run-ended').forEach(on);
      },
    });
    if (record === undefined) throw unknownRun(run, engine.shown);
    if (record === 'left' || record.error === null) return record;
    if (record.state === 'open') throw putAside(record.error, { run, shown: engine.shown, lock: paths.lock });
    const text = `the run was ${record.error}. Its purchases are in this lock, from which the next \`apply\` continues`;
    notify({ is: 'notice', text });
    return record;
  } finally {
    over.abort();
    await beside;
    await seen.end();
  }
}

/** Downloads files of a run without a store. Shows a notice if no worker can execute the run. Never rejects. */
async function workBeside(engine: Engine, campaign: OpenCampaign, options: WatchOptions): Promise<void> {
  const { run, access, signal } = options;
  if (access === undefined) return;
  // If the database server cannot be reached, the engine client reports this itself.
  const notifier = warnNoWorker(engine, { ...options, notify: campaign.notify }).catch(() => {});
  try {
    const record = await readRun(engine.database, run);
    if (record?.state === 'open' && record.store === null)
      await serveOwnFiles(engine, campaign, { name: record.campaign, access, signal });
  } catch (error) {
    if (!signal.aborted)
      campaign.notify({ is: 'notice', text: `stopped saving files on this machine: ${messageOf(error)}` });
  }
  await notifier;
}

const pollMs = 1000;
/** Number of polls without a worker before the notice, because a new worker needs time to start. */
const patience = 10;

export async function warnNoWorker(
  { database, shown }: Pick<Engine, 'database' | 'shown'>,
  options: Pick<WatchOptions, 'run' | 'storeName' | 'signal'> & Pick<OpenCampaign, 'notify'>,
  clock = systemClock,
): Promise<void> {
  const { run, storeName, signal, notify } = options;
  const place = storeName === undefined ? '' : ' with the same --store';
  const hint = way(`to start a worker, on any machine${place}`, call('worker'));
  for (let vain = 0; !signal.aborted; ) {
    const { runs } = await readEngineState(database, { isCounted: false });
    const own = runs.find(({ id }) => id === run);
    if (signal.aborted || own === undefined) return;
    const { lacks } = own;
    vain = lacks === undefined ? 0 : vain + 1;
    if (vain === patience && lacks !== undefined) notify({ is: 'notice', text: lackText(lacks, shown), hint });
    await clock.sleep(lacks === undefined ? patience * pollMs : pollMs, signal);
  }
}

function lackText(lacks: NonNullable<EngineRun['lacks']>, shown: string): string {
  if (lacks === 'worker') return `no worker of this account runs on ${shown}: the run waits until a worker is started`;
  if (lacks === 'leader') return `no worker on ${shown} leads this account: create requests wait until a worker leads`;
  return `none of the workers of this account on ${shown} can execute the run, because their store or version differs; the run waits for a worker with the same store and version`;
}

function pausedText(by: string): string {
  const who = by === '' ? '' : ` by ${by}`;
  return `the run is paused${who}: no new requests are sent, and running jobs are collected, until \`mediabatch resume\``;
}

function putAside(error: string, { run, shown, lock }: { run: string; shown: string; lock: string }): CampaignError {
  return new CampaignError({
    code: 'MB3704',
    message: `the workers on ${shown} cannot continue this run: ${error}`,
    hint: [
      way(
        'the run stays open, and the workers try again each minute; to attach to the run again, and send the records of this lock to the engine',
        call('apply'),
      ),
      way(
        'to end the run, and continue on this machine with its recorded purchases',
        call('unlock', '--id', run, '--force'),
      ),
    ],
    lock,
  });
}

export function unknownRun(run: string, shown: string, sent = ''): CampaignError {
  return new CampaignError({
    code: 'MB3702',
    message: `${shown} has no record of run ${run} of this campaign`,
    hint: [
      `${sent}if the engine database was restored from a backup or recreated, some purchases of the run may be in no lock`,
      way('to list purchases that no lock contains', call('list jobs', '--unknown')),
      way('then release the campaign', call('unlock', '--id', run)),
    ],
  });
}

function resultOf({ result }: RunRecord): NonNullable<RunRecord['result']> {
  return result ?? { exit: exitCodes.internalError, outcomes: {} };
}

const mostNamed = 3;

/**
 * Copies the remaining files of an ended run. `isShort`: true if files that the user wants on this machine are missing.
 */
async function fetchRest(
  campaign: OpenCampaign,
  record: RunRecord,
  { mirror, bringer }: Watched,
): Promise<{ missing: number; isShort: boolean }> {
  const notHere = await findMissingFiles(campaign, mirror.lock, resultOf(record).outcomes);
  bringer?.add(notHere);
  await bringer?.end();
  const missing = bringer?.missing ?? notHere.map(({ output }) => output.path);
  if (missing.length === 0) return { missing: 0, isShort: false };
  const elsewhere =
    record.store === null
      ? 'the files are on the machine on which another `apply` was attached to the run'
      : 'the files are in the store of the run, and no --store was given';
  const why = bringer?.trouble ?? elsewhere;
  const text = `files not downloaded to this machine: ${shortList(missing, mostNamed)}; ${why}. The next \`apply\` fetches missing files for 0 credits`;
  campaign.notify({ is: 'notice', text });
  return { missing: missing.length, isShort: bringer !== undefined || record.store === null };
}

/** Returns steps that the engine reported as done, but whose lock lines were lost when its database was restored. */
function doneWithoutRecord(lock: Lock, outcomes: { readonly [step: string]: string }): string[] {
  const isDone = (address: string) => lock.steps.get(address)?.purchases.some(({ state }) => state === 'done') === true;
  return Object.keys(outcomes).filter((address) => outcomes[address] === 'done' && !isDone(address));
}

function lostText(steps: readonly string[]): string {
  return `the engine has lost its records of ${shortList(steps, mostNamed)}: find the paid jobs with \`list jobs --unknown\` before these steps are bought again`;
}
