import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../contract/clock.ts';
import type { WorkerNews } from '../contract/worker.ts';
import { createDownloader } from '../service/download.ts';
import { makeRedact, readCredential } from '../service/secrets.ts';
import { accountOf } from './account-id.ts';
import { openBoss } from './boss.ts';
import { openDatabase } from './database.ts';
import { checkEngineUrl, showEngine } from './engine-url.ts';
import { Head } from './head.ts';
import { migrate } from './schema.ts';
import { makeSeal } from './seal.ts';
import { serveFiles } from './serve-files.ts';
import { Slots } from './slots.ts';
import { openStore } from './store.ts';
import { type Store, StoreMissingError } from './store-marker.ts';
import { work } from './worker.ts';

export interface StartWorkerOptions {
  /** Address of the database. */
  engine: string;
  /** Where the service is, and how to sign in. */
  access: { baseUrl: string; token: string };
  /** Absolute path of the folder of an embedded sandbox, which is the account then. */
  sandbox?: string | undefined;
  version: string;
  clock: Clock;
  /** Aborted: hand over and end. */
  signal: AbortSignal;
  exitWhenIdle: boolean;
  tell(news: WorkerNews): void;
  /** Hears how many steps a run has before they are read. */
  onSize(known: { steps: number }): void;
  /** Digest of a send's id and the credential. */
  accountOf(send: string): string | undefined;
  /** The store that this worker reaches, as a person named it. */
  store: string | undefined;
  /** Files at once. */
  files: number;
}

/** Opens the engine and works for it until it is told to end. */
export async function startWorker(options: StartWorkerOptions): Promise<void> {
  const { engine, access, sandbox, clock, signal, tell, accountOf: digestOf } = options;
  const store = options.store === undefined ? undefined : await waitForStore(options.store, options);
  if (store === 'left') return;
  const account = accountOf(sandbox === undefined ? access : { sandbox });
  const id = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const redact = makeRedact(access.token);
  const db = await openDatabase(checkEngineUrl(engine), {
    name: 'mediabatch worker',
    onAway: (error) => tell({ is: 'server away', error: error.message }),
    onBack: () => tell({ is: 'server back' }),
  });
  try {
    await migrate(db);
    // What the queue does by itself fails when the server is away, which our own calls say.
    const boss = await openBoss(engine, db, { supervises: true, onError: () => {} });
    const seal = makeSeal(access.token);
    const server = showEngine(engine);
    const files = store === undefined ? 0 : options.files;
    tell({
      is: 'started',
      worker: id,
      account,
      service: sandbox === undefined ? access.baseUrl : 'the embedded sandbox',
      server,
      files,
      ...(store && { store: store.name }),
    });
    const downloads = createDownloader({ baseUrl: access.baseUrl, redact, requestTimeoutMs });
    const slots = new Slots(files);
    const filesOf = store && keepEach(store.filesOf);
    const own = store && filesOf && { store: store.id, slots, downloads, filesOf };
    const hand = { db, boss, account, seal, clock, worker: id };
    try {
      await work({
        ...{ db, boss, clock, id, account, files, redact, signal, tell },
        version: options.version,
        store: store?.id,
        exitWhenIdle: options.exitWhenIdle,
        makeHead: (seat, until) =>
          new Head({
            ...{ db, boss, account, seat, access, seal, own, clock, redact, tell, signal: until },
            onSize: options.onSize,
            accountOf: digestOf,
            replays: sandbox !== undefined || readCredential(access.token).is === 'api-key' ? 'yes' : 'no',
          }),
        ...(own && { serveFiles: (until) => serveFiles({ ...hand, ...own, place: own.store, signal: until }) }),
      });
    } finally {
      await downloads.close();
      await boss.stop({ graceful: false });
    }
  } finally {
    await db.close();
  }
}

/** For the beginning of a download's answer: a head may not be told how patient each run is. */
const requestTimeoutMs = 30_000;

const storeLookMs = 3000;

/**
 * Waits for a store. Whoever submits makes it, and workers may have been started before; a place that is not mounted
 * looks the same, and nothing is written there. Who is to end when nothing is to be done does not wait for more.
 */
async function waitForStore(
  name: string,
  { clock, signal, exitWhenIdle, tell }: Pick<StartWorkerOptions, 'clock' | 'signal' | 'exitWhenIdle' | 'tell'>,
): Promise<Store | 'left'> {
  for (let isTold = false; !signal.aborted; isTold = true) {
    try {
      return await openStore(name, { makes: false });
    } catch (error) {
      if (!(error instanceof StoreMissingError) || exitWhenIdle) throw error;
      if (!isTold) tell({ is: 'no store', why: error.message });
      await clock.sleep(storeLookMs, signal);
    }
  }
  return 'left';
}

/** Makes each value once: files that swap names are in each other's way, so they have one owner. */
function keepEach<T>(make: (name: string) => T): (name: string) => T {
  const made = new Map<string, T>();
  return (name) => {
    const one = made.get(name) ?? make(name);
    made.set(name, one);
    return one;
  };
}
