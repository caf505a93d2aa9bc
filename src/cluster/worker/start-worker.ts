import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import type { Clock } from '../../contract/clock.ts';
import type { WorkerEvent } from '../../contract/engine-state.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Downloads, Outputs } from '../../contract/ports.ts';
import type { SpendingLimits } from '../../contract/spending.ts';
import { Places } from '../../ground/places.ts';
import { messageOf } from '../../ground/values.ts';
import { createDownloader } from '../../service/download.ts';
import { makeRedact, readCredential } from '../../service/secrets.ts';
import { type Boss, openBoss } from '../database/boss.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { migrate } from '../database/schema.ts';
import { showEngine } from '../database/server-errors.ts';
import { readEngineState } from '../engine-state.ts';
import { forgottenAfter } from '../leader/account-spending.ts';
import { Leader } from '../leader/leader.ts';
import { accountOf, makeSeal } from '../seal.ts';
import { openStore } from '../store/store.ts';
import { type Store, StoreMissingError } from '../store/store-marker.ts';
import { spread } from '../wake-up.ts';
import { fetchNamed, serveFiles } from './serve-files.ts';
import { reasonOf, work } from './worker.ts';

export interface StartWorkerOptions {
  engine: string;
  access: { baseUrl: string; token: string };
  version: string;
  clock: Clock;
  signal: AbortSignal;
  exitWhenIdle: boolean;
  /** After an abort, the worker ends as soon as the account has no open runs. */
  drain?: AbortSignal | undefined;
  log(news: WorkerEvent): void;
  onSize(known: { steps: number }): void;
  accountOf(send: string): string | undefined;
  store: string | undefined;
  files: number;
  port?: { port: number; host: string } | undefined;
  limits?: SpendingLimits | undefined;
  /** Age in ms after which ended runs of the account are deleted. Defaults to never. */
  keepMs?: number | undefined;
}

export async function startWorker(options: StartWorkerOptions): Promise<void> {
  const port = options.port && (await openOperatorPort(options.port));
  if (port === undefined) return runWorker(options, undefined);
  const log = (news: WorkerEvent) => {
    port.note(news);
    options.log(news);
  };
  log({ event: 'listening', port: port.port });
  try {
    await runWorker({ ...options, log }, port);
  } finally {
    await port.close();
  }
}

async function runWorker(options: StartWorkerOptions, port: OperatorPort | undefined): Promise<void> {
  const { engine, access, clock, signal, log, accountOf: digestOf } = options;
  const account = accountOf(access);
  const id = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const redact = makeRedact(access.token);
  const db = await openDatabase(engine, {
    name: 'mediabatch worker',
    onUnreachable: (error) => log({ event: 'server-away', error: error.message }),
    onBack: () => log({ event: 'server-back' }),
  });
  try {
    await migrate(db);
    port?.watch({ db, account });
    const store = options.store === undefined ? undefined : await waitForStore(options.store, options);
    if (store === 'left') return;
    const boss = await openBoss(db);
    const seal = makeSeal(access.token);
    const server = showEngine(engine);
    const files = store === undefined ? 0 : options.files;
    log({ event: 'started', worker: id, account, service: access.baseUrl, server, store: store?.name, files });
    const downloads = createDownloader({ baseUrl: access.baseUrl, redact, requestTimeoutMs });
    const own = store && ownFetchWorker(store, { downloads, files });
    const { exitWhenIdle, drain, limits, version, onSize, keepMs } = options;
    try {
      await work({
        ...{ db, boss, clock, id, account, files, redact, signal, log, exitWhenIdle, drain, limits, version },
        store: store?.id,
        makeLeader: (leadership, until) =>
          new Leader({
            ...{
              db,
              boss,
              account,
              leadership,
              access,
              seal,
              own,
              clock,
              redact,
              log,
              onSize,
              limits,
              signal: until,
            },
            accountOf: digestOf,
            replays: readCredential(access.token).is === 'api-key' ? 'yes' : 'no',
          }),
        parts: [
          (until, isQuiet) => keepHouse({ db, boss, clock, account, keepMs, isQuiet, signal: until }),
          async (until, isQuiet) => {
            if (own === undefined) return;
            const place = own.store;
            await serveFiles({ ...own, db, boss, account, seal, clock, worker: id, place, isQuiet, signal: until });
          },
        ],
      });
    } finally {
      await downloads.close();
      await boss.stop({ graceful: false });
    }
  } finally {
    await db.close();
  }
}

const requestTimeoutMs = 30_000;

const storePollMs = 3000;

/**
 * Waits until a submission creates the store. Does not create the store, because an unmounted volume looks like a
 * missing store.
 */
async function waitForStore(
  name: string,
  options: Pick<StartWorkerOptions, 'clock' | 'signal' | 'drain' | 'exitWhenIdle' | 'log'>,
): Promise<Store | 'left'> {
  const { clock, exitWhenIdle, log, drain } = options;
  // A worker that waits for its store has no work, so a request to drain ends it at once.
  const signal = AbortSignal.any([options.signal, ...(drain === undefined ? [] : [drain])]);
  for (let isReported = false; !signal.aborted; isReported = true) {
    try {
      return await openStore(name, { makes: false });
    } catch (error) {
      if (!(error instanceof StoreMissingError) || exitWhenIdle) throw error;
      if (!isReported) log({ event: 'no-store', why: error.message });
      await clock.sleep(storePollMs, signal);
    }
  }
  log({ event: 'ending', because: reasonOf(signal) });
  return 'left';
}

function ownFetchWorker(store: Store, { downloads, files }: { downloads: Downloads; files: number }) {
  // Two files of a campaign may swap names, so one `Outputs` object saves all files of the campaign.
  const made = new Map<string, Outputs>();
  const outputsOf = (campaign: string): Outputs => {
    const outputs = made.get(campaign) ?? fetchNamed(downloads, store.filesOf(campaign));
    made.set(campaign, outputs);
    return outputs;
  };
  return { store: store.id, slots: new Places(files), outputsOf, marks: store };
}

/** Interval in ms between checks for dead workers while runs are open. */
const stepMs = 1500;
/** Workers delete old data at every 80th check for dead workers. While no run is open, they check only then. */
const seldom = 80;

interface HouseOptions {
  db: Database;
  boss: Pick<Boss, 'supervise' | 'deleteQueue'>;
  clock: Clock;
  account: string;
  keepMs?: number | undefined;
  isQuiet(): boolean;
  signal: AbortSignal;
}

export async function keepHouse(options: HouseOptions): Promise<void> {
  const { db, boss, clock, isQuiet, signal } = options;
  for (let step = 0; !signal.aborted; step += 1) {
    const isDue = step % seldom === 0;
    try {
      if (db.unreachableSince === undefined && (isDue || !isQuiet())) {
        await db.query(endFuture);
        await boss.supervise();
      }
      if (db.unreachableSince === undefined && isDue) await tidy(options);
    } catch {
      // Errors are ignored, because other calls report that the server does not answer or refuses access.
    }
    await clock.sleep(spread(clock, stepMs), signal);
  }
}

/** Resets heartbeats that lie in the future: after the server's clock was set back, dead workers would seem alive. */
const endFuture = `WITH beats AS (
    UPDATE mediabatch_queue.job SET heartbeat_on = now() WHERE state = 'active' AND heartbeat_on > now())
  UPDATE mediabatch_queue.queue SET monitor_claim_on = least(monitor_claim_on, now()), monitor_on = least(monitor_on, now()),
    maintain_on = least(maintain_on, now())
  WHERE greatest(monitor_claim_on, monitor_on, maintain_on) > now()`;

async function tidy({ db, boss, account, keepMs }: HouseOptions): Promise<void> {
  if (keepMs !== undefined) {
    await db.query(
      `DELETE FROM mediabatch.run WHERE account = $1 AND state = 'ended' AND ended < now() - $2 * interval '1 ms'`,
      [account, keepMs],
    );
  }
  await db.query(
    `DELETE FROM mediabatch.spent WHERE account = $1
     AND month < to_char(now() AT TIME ZONE 'UTC' - interval '1 month', 'YYYY-MM')`,
    [account],
  );
  for (const { id, name } of await db.query<{ id: string; name: string }>(idleQueues)) {
    await db.transaction(async (sql) => {
      // `submit` locks the account's row, too, and creates the queue again.
      await sql.query('SELECT FROM mediabatch.account WHERE id = $1 FOR UPDATE', [id]);
      const stillIdle = await sql.query<{ name: string }>(`${idleQueues} AND queue.name = $1`, [name]);
      if (stillIdle.length > 0) await boss.deleteQueue(name);
    });
  }
}

const idleQueues = `SELECT account.id, queue.name FROM mediabatch_queue.queue
  JOIN mediabatch.account ON account.id = split_part(queue.name, '-', 3)
  WHERE queue.created_on < now() - interval '5 minutes'
    AND NOT EXISTS (SELECT FROM mediabatch.run WHERE run.account = account.id AND state = 'open')
    AND NOT EXISTS (SELECT FROM mediabatch.worker WHERE worker.account = account.id
      AND beat > now() - interval '${forgottenAfter}')`;

interface OperatorPort {
  port: number;
  note(news: WorkerEvent): void;
  watch(worker: Watched): void;
  close(): Promise<void>;
}

interface Watched {
  db: Database;
  account: string;
}

/** Serves `/healthz` (the process runs) and `/readyz` (all open runs can continue). Throws MB3303. */
export async function openOperatorPort({ port, host }: { port: number; host: string }): Promise<OperatorPort> {
  let watched: Watched | undefined;
  let notReady: string | undefined = 'the worker has not started yet';
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (request.method !== 'GET') return answer(response, 405, 'GET only');
    if (pathname === '/healthz') return answer(response, 200, 'it lives');
    if (pathname !== '/readyz') return answer(response, 404, '/healthz, /readyz');
    const readiness = notReady === undefined ? lackOf(watched) : Promise.resolve(notReady);
    void readiness.then(
      (why) => answer(response, why === undefined ? 200 : 503, why ?? 'it works'),
      (error: unknown) => answer(response, 500, messageOf(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(isTaken(error) ? taken(port, host) : error));
    server.listen(port, host, resolve);
  });
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    note(news) {
      notReady = readinessAfter(news, notReady);
    },
    watch(worker) {
      watched = worker;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

function readinessAfter(news: WorkerEvent, before: string | undefined): string | undefined {
  switch (news.event) {
    case 'started':
    case 'no-store':
    case 'server-back':
      return undefined;
    case 'server-away':
      return `the engine does not answer: ${news.error}`;
    case 'leaving':
    case 'ending':
      return 'it ends';
    default:
      return before;
  }
}

async function lackOf(watched: Watched | undefined): Promise<string | undefined> {
  if (watched === undefined || watched.db.unreachableSince !== undefined) return undefined;
  const { account, db } = watched;
  const { runs } = await readEngineState(db, { isCounted: false });
  const run = runs.find((one) => one.account === account && one.lacks !== undefined);
  return run && `run ${run.id} of ${run.campaign} lacks a ${run.lacks}`;
}

function isTaken(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}

function taken(port: number, host: string): CampaignError {
  return new CampaignError({
    code: 'MB3303',
    message: `port ${port} of ${host} is taken`,
    hint: 'choose another port with --port; 0 chooses any free port',
    port,
  });
}
