import { hash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { FetchAnswer } from '../../contract/answer.ts';
import type { Clock } from '../../contract/clock.ts';
import { OutputError } from '../../contract/errors.ts';
import type { Downloads, OutputFiles, Outputs, OutputTarget } from '../../contract/ports.ts';
import { localOutputs } from '../../disk/outputs/outputs.ts';
import { Batches } from '../../ground/batches.ts';
import type { Places } from '../../ground/places.ts';
import { defined, messageOf } from '../../ground/values.ts';
import type { Output } from '../../lock/record.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';
import { type Boss, filesQueue, filesQueueOptions, ofBoss } from '../database/boss.ts';
import type { Database } from '../database/database.ts';
import type { Seal } from '../seal.ts';
import { makeWakeUp, spread } from '../wake-up.ts';

/** Channel of queue names. A notification means that the queue has a new file. */
export const filesChannel = 'mediabatch_files';
/** Channel of file IDs. A notification means that the result of the file is stored. */
export const fileChannel = 'mediabatch_file';

const pollMs = 1000;
const idlePollMs = 30_000;
/** Heartbeat interval in ms. After 10 s without a heartbeat, the queue gives the file to another fetch worker. */
const touchMs = 3000;
const gatherMs = 20;

interface ServeFilesOptions {
  db: Database;
  boss: Pick<Boss, 'createQueue' | 'fetch' | 'touch' | 'complete' | 'fail'>;
  account: string;
  place: string;
  seal: Seal;
  clock: Clock;
  worker: string;
  slots: Places;
  outputsOf(campaign: string): Outputs;
  isQuiet?(): boolean;
  signal: AbortSignal;
}

interface Ended {
  attempt: Attempt;
  report: FileReport;
}

interface Attempt {
  id: string;
  retryCount: number;
  file: string;
  /** `task` is encrypted. Undefined if the file is no longer needed. */
  order: { task: Buffer; campaign: string } | undefined;
  /** Aborted when another fetch worker gets the file or this worker ends. */
  lost: AbortController;
}

export async function serveFiles(options: ServeFilesOptions): Promise<void> {
  await new FetchWorker(options).serve();
}

class FetchWorker {
  readonly #options: ServeFilesOptions;
  readonly #queue: string;
  readonly #underWay = new Map<string, Attempt>();
  readonly #ends = new Set<Promise<void>>();
  readonly #reports = new Batches<Ended>({ write: (ended) => this.#write(ended), gather: () => wait(gatherMs) });
  #failure: { error: unknown } | undefined;

  constructor(options: ServeFilesOptions) {
    this.#options = options;
    this.#queue = filesQueue(options.account, options.place);
  }

  async serve(): Promise<void> {
    const { db, boss, signal, clock, slots, isQuiet } = this.#options;
    await db.persist(() => boss.createQueue(this.#queue, filesQueueOptions));
    const wakeUp = makeWakeUp({ clock, isFor: (payload) => payload === this.#queue });
    const wake = () => wakeUp.wake();
    signal.addEventListener('abort', wake, { once: true });
    const leaveChannel = db.listen(filesChannel, wakeUp.onNotification);
    const beating = new AbortController();
    const beats = this.#keep(beating.signal);
    try {
      while (!signal.aborted && this.#failure === undefined) {
        const taken = slots.free > 0 ? await this.#take(slots.free) : [];
        for (const attempt of taken) this.#begin(attempt, wake);
        if (taken.length === 0) await wakeUp.within(isQuiet?.() === true ? spread(clock, idlePollMs) : pollMs);
      }
      for (const { lost } of this.#underWay.values()) lost.abort();
      await Promise.all(this.#ends);
    } finally {
      beating.abort();
      signal.removeEventListener('abort', wake);
      leaveChannel();
      await beats.catch(() => {});
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #take(most: number): Promise<Attempt[]> {
    const { db, boss, signal } = this.#options;
    const options = { batchSize: most, ignoreStartAfter: true };
    const jobs = await db.persist(() => boss.fetch<{ file: string }>(this.#queue, options));
    if (jobs.length === 0) return [];
    const files = jobs.map(({ data }) => data.file);
    const rows = await db.query<{ id: string; task: Buffer; campaign: string }>(readTasks, [files]);
    const orders = new Map(rows.map((row) => [row.id, row]));
    return jobs.map(({ id, retryCount, data }) => {
      const lost = new AbortController();
      setMaxListeners(0, lost.signal);
      if (signal.aborted) lost.abort();
      const attempt = { id, retryCount, file: data.file, order: orders.get(data.file), lost };
      this.#underWay.set(id, attempt);
      return attempt;
    });
  }

  #begin(attempt: Attempt, wake: () => void): void {
    const end = this.#options.slots
      .use(() => this.#carryOut(attempt))
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#underWay.delete(attempt.id);
        this.#ends.delete(end);
        wake();
      });
    this.#ends.add(end);
  }

  async #carryOut(attempt: Attempt): Promise<void> {
    const { db, boss, seal } = this.#options;
    const { id, retryCount, order, lost } = attempt;
    if (order === undefined) {
      await db.persist(() => boss.complete(this.#queue, { id, retryCount }));
      return;
    }
    const task = seal.open(order.task);
    const notices: string[] = [];
    const result: FileResult =
      task === undefined
        ? { is: 'expired', message: 'the link of the file was encrypted with another key' }
        : await this.#do(JSON.parse(task) as FileTask, {
            outputs: this.#options.outputsOf(order.campaign),
            notice: (message) => notices.push(message),
            signal: lost.signal,
          });
    if (!lost.signal.aborted || result.is === 'saved')
      await this.#reports.add({ attempt, report: { result, notices } });
    else await db.persist(() => boss.fail(this.#queue, { id, retryCount }, { message: 'given back' }));
  }

  async #do(
    task: FileTask,
    { outputs, notice, signal }: { outputs: Outputs; notice(message: string): void; signal: AbortSignal },
  ): Promise<FileResult> {
    try {
      if (task.do === 'measure') {
        const facts = await outputs.measure(task.output, task.aspects);
        return { is: 'measured', ...defined({ facts }) };
      }
      const { target, url } = task;
      return await outputs.fetch({ ...target, notice }, { jobId: '', index: 0, url }, { signal });
    } catch (error) {
      if (!(error instanceof OutputError)) return { is: 'unreachable', message: messageOf(error) };
      const { why, message } = error;
      return why === 'bad-bytes' ? { is: why, message } : { is: 'error', why, message };
    }
  }

  #write(reports: readonly Ended[]): Promise<void> {
    const { db, boss, worker } = this.#options;
    return db.transaction(async (sql) => {
      const attempts = reports.map(({ attempt: { id, retryCount } }) => ({ id, retryCount }));
      const settled = settledOf(await boss.complete(this.#queue, attempts, null, { db: ofBoss(sql) }));
      const ours = reports.filter(({ attempt }) => settled.has(attempt.id));
      if (ours.length === 0) return;
      await sql.query(putResults, [
        ours.map(({ attempt }) => attempt.file),
        ours.map(({ report }) => (isDone(report.result) ? 'saved' : 'failed')),
        ours.map(({ report }) => JSON.stringify(report)),
        worker,
      ]);
    });
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const { db, boss, clock } = this.#options;
    for (; !signal.aborted; await clock.sleep(touchMs, signal)) {
      const attempts = [...this.#underWay.values()];
      if (attempts.length === 0) continue;
      const ours = attempts.map(({ id, retryCount }) => ({ id, retryCount }));
      const settled = settledOf(await db.persist(() => boss.touch(this.#queue, ours)));
      for (const { id, lost } of attempts) if (!settled.has(id) && this.#underWay.has(id)) lost.abort();
    }
  }
}

const readTasks = `SELECT file.id, file.task, run.campaign
  FROM mediabatch.file JOIN mediabatch.run ON run.id = file.run
  WHERE file.id = ANY($1::text[]) AND file.state = 'wanted' AND file.task IS NOT NULL`;

const putResults = `WITH put AS (
    UPDATE mediabatch.file SET state = one.state, result = one.result::jsonb, task = NULL, worker = $4
    FROM unnest($1::text[], $2::text[], $3::text[]) AS one (id, state, result)
    WHERE file.id = one.id AND file.state = 'wanted' RETURNING file.id)
  SELECT pg_notify('${fileChannel}', id) FROM put`;

function isDone({ is }: FileResult): boolean {
  return is === 'saved' || is === 'measured';
}

/** Returns IDs of queue jobs still assigned to this worker. The types of pg-boss lack the field `settled`. */
function settledOf(answer: object): Set<string> {
  return new Set('settled' in answer ? (answer.settled as string[]) : []);
}

export type FileTask =
  | { do: 'fetch'; target: Omit<OutputTarget, 'notice'>; url: string }
  | { do: 'measure'; output: Output; aspects: readonly Aspect[] };

/** The result of a file task is stored unencrypted, so it must not contain links. */
type FileResult =
  | FetchAnswer
  | { is: 'measured'; facts?: MediaFacts }
  | { is: 'error'; why: 'disk' | 'path'; message: string };

export interface FileReport {
  result: FileResult;
  notices: string[];
}

/** Downloads files in this process. Adds the host name to disk errors, because users read them on other machines. */
export function fetchNamed(downloads: Downloads, files: OutputFiles): Outputs {
  const outputs = localOutputs(downloads, files);
  return {
    ...outputs,
    fetch: (...given) =>
      outputs.fetch(...given).catch((error: unknown) => {
        if (!(error instanceof OutputError) || error.why !== 'disk') throw error;
        throw new OutputError('disk', `worker on ${hostname()}: ${error.message}`, { cause: error });
      }),
  };
}

/** Returns where a run's files are saved, as a part of the queue name: a store or the attached client. */
export function placeOf({ store, campaign }: { store: string | null; campaign: string }): string {
  return store ?? `own-${hash('sha256', campaign).slice(0, 16)}`;
}
