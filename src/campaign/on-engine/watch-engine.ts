import { createHash } from 'node:crypto';
import type { Engine } from '../../cluster/open-engine.ts';
import type { StoreFiles } from '../../cluster/store/store-marker.ts';
import { systemClock } from '../../contract/clock.ts';
import { OutputError } from '../../contract/errors.ts';
import type { RunEvent, RunFact } from '../../contract/event.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Tell } from '../../contract/notice.ts';
import type { OutputFiles } from '../../contract/ports.ts';
import { removeEngineNote, writeSeenOnEngine } from '../../disk/lock/engine-note.ts';
import { checkOutputs } from '../../disk/outputs/outputs.ts';
import type { GraphOutline } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import { Places } from '../../ground/places.ts';
import { defined, messageOf } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Lock, Output, StepRecord } from '../../lock/record.ts';
import { replacedDigests } from '../../plan/assemble.ts';
import { shortList } from '../../report/safe-text.ts';
import type { Access } from '../environment.ts';
import { outputFilesOf } from '../look-at-outputs.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import type { LoadedLock } from '../read-lock.ts';
import type { RunResult } from '../run.ts';
import { MirroredLock } from './mirrored-lock.ts';

interface WatchOptions {
  run: string;
  name: string;
  outline: GraphOutline;
  loaded: LoadedLock;
  access: Access | undefined;
  store: StoreFiles | undefined;
  signal: AbortSignal;
  on(event: RunEvent): void;
}

export async function watchOnEngine(engine: Engine, campaign: OpenCampaign, options: WatchOptions): Promise<RunResult> {
  const { run, name, outline, loaded, store, signal, on } = options;
  const { paths, tell } = campaign;
  const mirror = await MirroredLock.open(campaign, loaded, name);
  const ending = { outline, emit: (fact: RunFact) => on({ at: new Date().toISOString(), ...fact }) };
  const bringer =
    store && new FileBringer({ from: store, to: paths.outputs, outputs: outputFilesOf(campaign), tell, signal });
  const kindOf = new Map<string, string>();
  const savedBy = (event: RunEvent): FileToBring[] => {
    if (event.event === 'step-started') kindOf.set(event.address, event.kind);
    if (event.event !== 'output-saved') return [];
    const { address, output } = event;
    const kind = kindOf.get(address);
    return kind === undefined
      ? []
      : [{ address, kind, output, replaces: replacedDigests(loaded.lock.steps.get(address)) }];
  };
  const ends: (() => Promise<void>)[] = [];
  try {
    const seen = await keepSeen(engine, paths.lock, { run, steps: () => mirror.steps });
    ends.push(() => seen.end());
    const hand = await startHand(engine, campaign, options);
    ends.push(() => hand.stop());
    const { watchRun } = await import('../../cluster/runs/watch-run.ts');
    const record = await watchRun(engine.database, run, {
      signal,
      async onLines(lines, read) {
        const news = await mirror.add(lines);
        if (read !== undefined) seen.note(read);
        return news;
      },
      onPaused: (by) => tell({ is: 'notice', text: by === undefined ? 'the run continues' : pausedText(by) }),
      onEvents(events) {
        bringer?.add(events.flatMap(savedBy));
        // The end of the run is reported after the lock is settled.
        events.filter(({ event }) => event !== 'run-ended').forEach(on);
      },
    });
    if (record === undefined) throw unknownRun(run, engine);
    await bringer?.end();
    if (record === 'left') return { exit: exitCodes.interrupted, outcomes: new Map() };
    if (record.error !== null && record.state === 'open')
      throw putAside(record.error, { engine, run, lock: paths.lock });
    if (record.error !== null) {
      const text = `the run was ${record.error}: its purchases are in this lock, and the next \`apply\` continues from there`;
      tell({ is: 'notice', text });
    }
    const now = mirror.lock;
    const { exit, outcomes, end } = record.result ?? { exit: exitCodes.internalError, outcomes: {} };
    const notHere = await filesNotHere(campaign, now, outcomes);
    bringer?.add(notHere);
    await bringer?.end();
    const missing = bringer?.missing ?? notHere.map(({ output }) => output.path);
    const trouble = bringer && (bringer.trouble ?? 'the store does not have the bytes that the lock names');
    if (missing.length > 0) tell({ is: 'notice', text: notHereText(missing, record.store, trouble) });
    await mirror.settle(ending);
    await removeEngineNote(paths.lock);
    const lost = doneWithoutRecord(now, outcomes);
    if (lost.length > 0) tell({ is: 'notice', text: lostText(lost) });
    // Without `--store` the user chose to leave the files in the store of the run.
    const isShort = missing.length > 0 && (bringer !== undefined || record.store === null);
    const here = exit === exitCodes.done && isShort ? exitCodes.someFailed : exit; // I10
    const own = lost.length > 0 ? exitCodes.needsDecision : here;
    const ended = end && { ...end, exit: own, ...(isShort && { unsaved: (end.unsaved ?? 0) + missing.length }) };
    if (ended !== undefined) on(ended);
    return { exit: own, outcomes: new Map(Object.entries(outcomes)), ...defined({ end: ended }) };
  } catch (error) {
    if (signal.aborted) return { exit: exitCodes.interrupted, outcomes: new Map() };
    throw error;
  } finally {
    await Promise.all(ends.map((end) => end()));
    await mirror.close(ending);
  }
}

async function startHand(
  engine: Engine,
  campaign: OpenCampaign,
  { run, access, signal }: Pick<WatchOptions, 'run' | 'access' | 'signal'>,
): Promise<{ stop(): Promise<void> }> {
  const { readRun } = await import('../../cluster/runs/runs.ts');
  const record = await readRun(engine.database, run);
  if (record?.state !== 'open' || record.store !== null || access === undefined) return { stop: async () => {} };
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const served = serveOwnFiles(engine, campaign, { name: record.campaign, access, signal: until }).catch(
    (error: unknown) => {
      if (!until.aborted)
        campaign.tell({ is: 'notice', text: `files are no longer saved on this machine: ${messageOf(error)}` });
    },
  );
  return {
    async stop() {
      over.abort();
      await served;
    },
  };
}

function putAside(error: string, { engine, lock, run }: { engine: Engine; lock: string; run: string }): CampaignError {
  return new CampaignError({
    code: 'MB3704',
    message: `the workers on ${engine.shown} cannot go on with this run: ${error}`,
    hint: [
      way(
        'it stays open, nothing is lost, and it is tried again each minute; to attach again, and send it the records of this lock',
        call('apply'),
      ),
      way('to end the run, and continue here with its known purchases', call('unlock', '--id', run, '--force')),
    ],
    lock,
  });
}

function pausedText(by: string): string {
  const who = by === '' ? '' : ` by ${by}`;
  return `the run is paused${who}: nothing new is sent, and what runs is collected, until \`mediabatch resume\``;
}

function unknownRun(run: string, { shown }: Engine): CampaignError {
  return new CampaignError({
    code: 'MB3702',
    message: `${shown} does not know the run ${run} of this campaign`,
    hint: [
      'if the database was restored from a backup or recreated, purchases since then may be unrecorded',
      way('to look for it', call('list jobs', '--unknown')),
      way('then remove the note', call('unlock', '--id', run)),
    ],
  });
}

/** Steps that a leader reported done but whose lines are missing, because the database was restored. */
function doneWithoutRecord(lock: Lock, outcomes: { readonly [step: string]: string }): string[] {
  const isDone = (address: string) => lock.steps.get(address)?.purchases.some(({ state }) => state === 'done') === true;
  return Object.keys(outcomes).filter((address) => outcomes[address] === 'done' && !isDone(address));
}

function lostText(steps: readonly string[]): string {
  return `the engine has lost its records of ${shortList(steps, mostNamed)}: \`list jobs --unknown\` finds paid jobs before their steps are bought again`;
}

async function filesNotHere(
  { paths, seen }: Pick<OpenCampaign, 'paths' | 'seen'>,
  lock: Lock,
  outcomes: { readonly [step: string]: string },
): Promise<FileToBring[]> {
  const outputs = Object.entries(outcomes).flatMap(([address, outcome]) => {
    const record = outcome === 'done' ? lock.steps.get(address) : undefined;
    const media = record && kinds[record.kind]?.media;
    const [newest] = record?.purchases ?? [];
    if (record === undefined || media === undefined || media === 'none' || newest?.state !== 'done') return [];
    const own = (newest.outputs ?? []).filter(({ path }) => isOutputPath(path));
    return own.map((output) => ({ address, kind: record.kind, output }));
  });
  const states = await checkOutputs(
    paths.outputs,
    outputs.map(({ output }) => output),
    { seen },
  );
  return outputs.filter(({ output }) => states.get(output.path) === 'missing');
}

function notHereText(missing: readonly string[], store: string | null, trouble?: string): string {
  const where = missing.length === 1 ? 'it is' : 'they are';
  const why =
    trouble ??
    (store === null
      ? `${where} where another \`apply\` was attached to the run`
      : `${where} in the store of the run, and no --store was given`);
  return `${shortList(missing, mostNamed)} did not come here: ${why}. The next \`apply\` fetches what is missing, for 0 credits`;
}

const mostNamed = 3;

const filesAtOnce = 16;
const requestTimeoutMs = 30_000;

/**
 * Saves the files of a run that has no store to the campaign's own folder, until the signal is aborted. While no
 * client is attached, these files and the steps that use them wait.
 */
async function serveOwnFiles(
  { database: db, boss, account }: Engine,
  campaign: OpenCampaign,
  { name, access, signal }: { name: string; access: Access; signal: AbortSignal },
): Promise<void> {
  const [{ placeOf, serveFiles }, { makeSeal }, { createDownloader }, { makeRedact }] = await Promise.all([
    import('../../cluster/worker/serve-files.ts'),
    import('../../cluster/seal.ts'),
    import('../../service/download.ts'),
    import('../../service/secrets.ts'),
  ]);
  const { baseUrl, token } = access;
  const downloads = createDownloader({ baseUrl, redact: makeRedact(token), requestTimeoutMs });
  const files = outputFilesOf(campaign);
  try {
    await serveFiles({
      ...{ db, boss, account, signal, downloads },
      clock: systemClock,
      place: placeOf({ store: null, campaign: name }),
      seal: makeSeal(token),
      worker: 'apply',
      slots: new Places(filesAtOnce),
      filesOf: () => files,
    });
  } finally {
    await downloads.close();
  }
}

const gatherMs = 500;

interface Read {
  epoch: string;
  lines: number;
}

/**
 * Stores next to the lock how much of a run's record this client has seen. If it cannot be written, the previous mark
 * stays.
 */
export async function keepSeen(
  { database }: Pick<Engine, 'database'>,
  path: string,
  { run, steps }: { run: string; steps(): ReadonlyMap<string, StepRecord> },
): Promise<{ note(read: Read): void; end(): Promise<void> }> {
  const { countJobs, whichServer } = await import('../../cluster/store/run-mark.ts');
  const server = await whichServer(database);
  let last: Read | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const write = () => {
    timer = undefined;
    if (last === undefined) return;
    const seen = { run, server, ...last, jobs: countJobs({ steps: steps() }) };
    last = undefined;
    writing = writing.then(() => writeSeenOnEngine(path, seen)).catch(() => {});
  };
  return {
    note(read) {
      last = read;
      timer ??= setTimeout(write, gatherMs);
    },
    async end() {
      clearTimeout(timer);
      write();
      await writing;
    },
  };
}

interface Ways {
  from: Pick<StoreFiles, 'read'>;
  to: string;
  outputs: OutputFiles;
  tell: Tell;
  signal: AbortSignal;
}

const atOnce = 8;
const mostTries = 3;

export interface FileToBring {
  address: string;
  kind: string;
  output: Output;
  replaces?: readonly string[];
}

/** Copies files from a store to the campaign's folder, checked by their digests. Files that exist already stay. */
export class FileBringer {
  readonly #places: Ways;
  readonly #queue = new Places(atOnce);
  readonly #brought: Promise<void>[] = [];
  readonly #taken = new Set<string>();
  readonly missing: string[] = [];
  trouble: string | undefined;

  constructor(places: Ways) {
    this.#places = places;
  }

  /** Queues files of the store. Each is copied once. */
  add(files: readonly FileToBring[]): void {
    for (const file of files) {
      const { path, sha256 } = file.output;
      if (!isOutputPath(path) || this.#taken.has(`${sha256} ${path}`)) continue;
      this.#taken.add(`${sha256} ${path}`);
      const brought = this.#queue.use(() => this.#bring(file));
      // The error is reported by `end`.
      brought.catch(() => {});
      this.#brought.push(brought);
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#brought);
  }

  async #bring({ address, kind, output, replaces = [] }: FileToBring): Promise<void> {
    const { to, tell } = this.#places;
    const media = kinds[kind]?.media;
    const isWanted = media !== undefined && media !== 'none';
    if (!isWanted || (await checkOutputs(to, [output])).get(output.path) === 'intact') return;
    const save = output.path.replace(/\.[^./]+$/, '');
    const notice = (text: string) => tell({ is: 'notice', text });
    if (!(await this.#copy(output, { address, media, save, replaces, notice }))) this.missing.push(output.path);
  }

  async #copy(output: Output, target: Parameters<OutputFiles['save']>[0]): Promise<boolean> {
    const { from, outputs: files, signal } = this.#places;
    for (let tries = 1; tries <= mostTries && !signal.aborted; tries += 1) {
      try {
        const body = await from.read(output);
        if (body === undefined) return false;
        await files.save(target, { body: checked(body, { output, signal }), bytes: output.bytes, type: output.type });
        return true;
      } catch (error) {
        if (!(error instanceof OutputError)) throw error;
        if (error.why === 'bad-bytes') continue;
        this.trouble ??= error.message;
        return false;
      }
    }
    return false;
  }
}

/**
 * Passes the bytes on. Throws at the end if they differ from the digest in the lock, so that no such file gets its
 * final name.
 */
async function* checked(
  body: AsyncIterable<Uint8Array>,
  { output, signal }: { output: Output; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256');
  for await (const chunk of body) {
    if (signal.aborted) throw new Error('interrupted');
    digest.update(chunk);
    yield chunk;
  }
  if (digest.digest('hex') !== output.sha256) throw new Error(`${output.path} has other bytes in the store`);
}
