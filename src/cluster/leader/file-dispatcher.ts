import { hash } from 'node:crypto';
import type { FetchAnswer } from '../../contract/answer.ts';
import { LeadershipLostError, OutputError } from '../../contract/errors.ts';
import type { Outputs } from '../../contract/ports.ts';
import { Batches } from '../../ground/batches.ts';
import type { Places } from '../../ground/places.ts';
import { type Boss, filesQueue, filesQueueOptions, ofBoss } from '../database/boss.ts';
import type { Database, Sql } from '../database/database.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { Seal } from '../seal.ts';
import { type FileReport, type FileTask, fileChannel, filesChannel, placeOf } from '../worker/serve-files.ts';
import { held, type Term } from './rows.ts';

const pollMs = 1000;
const mostWritten = 200;
/** Longest wait in ms for a slot of this process, before another fetch worker gets the file. */
const patienceMs = 1000;

interface FileDispatcherOptions extends Term {
  db: Database;
  boss: Pick<Boss, 'createQueue' | 'insert'>;
  seal: Seal;
}

export interface OwnFetchWorker {
  store: string;
  slots: Places;
  outputsOf(campaign: string): Outputs;
}

interface Order {
  id: string;
  run: string;
  queue: string;
  task: FileTask;
  resolve(report: FileReport): void;
}

export class FileDispatcher {
  readonly #options: FileDispatcherOptions;
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #new = new Batches<Order>({ write: (orders) => this.#write(orders), mostSize: mostWritten });
  readonly #waiting = new Map<string, Order>();
  readonly #reads = new Batches<string>({ write: (ids) => this.#read([...new Set(ids)]) });
  #leaveChannel: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FileDispatcherOptions) {
    this.#options = options;
  }

  /** `own`: the fetch worker of this process. If `own` has no free slot, another fetch worker gets the file. */
  outputsOf(run: Pick<RunRecord, 'id' | 'campaign' | 'store'>, own?: OwnFetchWorker): Outputs {
    const queue = filesQueue(this.#options.account, placeOf(run));
    const order = (id: string, task: FileTask, signal?: AbortSignal) =>
      this.#order({ id, run: run.id, queue, task }, signal);
    const byQueue: Outputs = {
      async fetch({ notice, ...target }, { jobId, index, url }, { signal }) {
        const id = fileId(run.id, target.address, index, jobId);
        const report = await order(id, { do: 'fetch', target, url }, signal);
        if (report === undefined) return { is: 'unreachable', message: 'interrupted' };
        for (const text of report.notices) notice(text);
        return answerOf(report);
      },
      // The leader may lack access to the store, so it moves no file: the caller fetches the file again.
      relocate: async () => undefined,
      async measure(output, aspects) {
        const id = fileId(run.id, 'measure', output.path, output.sha256, ...aspects);
        const report = await order(id, { do: 'measure', output, aspects });
        return report?.result.is === 'measured' ? report.result.facts : undefined;
      },
    };
    if (own === undefined || own.store !== run.store) return byQueue;
    const { slots } = own;
    const here = own.outputsOf(run.campaign);
    return {
      fetch: async (target, file, options) =>
        (await useSoon(slots, () => here.fetch(target, file, options))) ?? byQueue.fetch(target, file, options),
      relocate: (target, from, choices) => here.relocate(target, from, choices),
      measure: (output, aspects) => here.measure(output, aspects),
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#leaveChannel?.();
  }

  /** Queues a file for the fetch workers. Resolves to undefined if aborted. The next leader collects the result. */
  async #order(
    { id, run, queue, task }: Pick<Order, 'id' | 'run' | 'queue' | 'task'>,
    signal?: AbortSignal,
  ): Promise<FileReport | undefined> {
    if (signal?.aborted) return undefined;
    await this.#open(queue);
    let leave = () => {};
    try {
      return await new Promise<FileReport | undefined>((resolve, reject) => {
        leave = () => resolve(undefined);
        signal?.addEventListener('abort', leave, { once: true });
        if (signal?.aborted) leave();
        this.#new.add({ id, run, queue, task, resolve }).catch(reject);
      });
    } finally {
      signal?.removeEventListener('abort', leave);
      this.#waiting.delete(id);
    }
  }

  async #open(queue: string): Promise<void> {
    const { db, boss } = this.#options;
    this.#leaveChannel ??= db.listen(fileChannel, (id) => this.#poll(id === undefined ? this.#waiting.keys() : [id]));
    this.#timer ??= setInterval(() => {
      if (this.#reads.waiting === 0) this.#poll(this.#waiting.keys());
    }, pollMs);
    let opened = this.#queues.get(queue);
    if (opened === undefined) {
      opened = db.persist(() => boss.createQueue(queue, filesQueueOptions));
      this.#queues.set(queue, opened);
    }
    await opened;
  }

  async #write(given: readonly Order[]): Promise<void> {
    const orders = new Map(given.map((order) => [order.id, order]));
    for (const order of orders.values()) this.#waiting.set(order.id, order);
    const done = await this.#options.db.transaction((sql) => this.#put(sql, [...orders.values()]));
    for (const { id, result } of done) this.#end(id, result);
  }

  async #put(sql: Sql, orders: readonly Order[]): Promise<{ id: string; result: FileReport }[]> {
    const { account, epoch, seal, boss } = this.#options;
    const tasks = orders.map(({ task }) => seal.seal(JSON.stringify(task)));
    const rows = await sql.query<{ id: string; state: string; tries: number; result: FileReport }>(putFiles, [
      ...[account, epoch],
      ...[orders.map(({ id }) => id), orders.map(({ run }) => run), tasks],
    ]);
    if (rows.length === 0) throw new LeadershipLostError();
    const wanted = new Map(rows.filter(({ state }) => state === 'wanted').map(({ id, tries }) => [id, tries]));
    for (const queue of new Set(orders.map((order) => order.queue))) {
      const jobs = orders.flatMap(({ id, queue: its }) => {
        const tries = its === queue ? wanted.get(id) : undefined;
        // The priority lets a retried file go before the new files in the queue.
        return tries === undefined ? [] : [{ id: jobIdOf(id, tries), data: { file: id }, priority: tries }];
      });
      if (jobs.length === 0) continue;
      await boss.insert(queue, jobs, { db: ofBoss(sql) });
      await sql.query('SELECT pg_notify($1, $2)', [filesChannel, queue]);
    }
    return rows.filter(({ state }) => state === 'saved');
  }

  #poll(ids: Iterable<string>): void {
    // Errors are ignored, because other statements of the leader report that the database is closed or refuses access.
    for (const id of ids) if (this.#waiting.has(id)) this.#reads.add(id).catch(() => {});
  }

  async #read(ids: readonly string[]): Promise<void> {
    const text = "SELECT id, result FROM mediabatch.file WHERE id = ANY($1) AND state <> 'wanted'";
    for (const { id, result } of await this.#options.db.query<{ id: string; result: FileReport }>(text, [ids])) {
      this.#end(id, result);
    }
  }

  #end(id: string, report: FileReport): void {
    this.#waiting.get(id)?.resolve(report);
    this.#waiting.delete(id);
  }
}

/** Inserts files to fetch. Skips saved files, retries failed files once, and updates the links of waiting files. */
const putFiles = `${held} INSERT INTO mediabatch.file AS file (id, run, state, task, tries)
  SELECT one.id, one.run, 'wanted', one.task, 1 FROM held, unnest($3::text[], $4::text[], $5::bytea[]) AS one (id, run, task)
  ON CONFLICT (id) DO UPDATE SET
    state = CASE file.state WHEN 'saved' THEN 'saved' ELSE 'wanted' END,
    task = CASE file.state WHEN 'saved' THEN NULL ELSE excluded.task END,
    tries = file.tries + CASE file.state WHEN 'failed' THEN 1 ELSE 0 END
  RETURNING id, state, tries, result`;

function answerOf({ result }: FileReport): FetchAnswer {
  if (result.is === 'error') throw new OutputError(result.why, result.message);
  if (result.is === 'measured') throw new Error('internal error: a file was measured instead of fetched');
  return result;
}

async function useSoon<T>(slots: Places, work: () => Promise<T>): Promise<T | undefined> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), patienceMs);
  const begin = () => {
    clearTimeout(timer);
    return work();
  };
  return slots.use(begin, patience.signal).catch((error: unknown) => {
    if (patience.signal.aborted) return undefined;
    throw error;
  });
}

function fileId(...facts: (string | number)[]): string {
  return hash('sha256', JSON.stringify(facts));
}

/** Returns one UUID for each attempt to fetch a file, so that the queue accepts each attempt once. */
function jobIdOf(file: string, tries: number): string {
  const hex = hash('sha256', `${file} ${tries}`);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
