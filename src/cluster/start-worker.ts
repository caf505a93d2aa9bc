import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../contract/clock.ts';
import type { WorkerNews } from '../contract/worker.ts';
import { makeRedact } from '../service/secrets.ts';
import type { Seat } from './account.ts';
import { accountOf } from './account-id.ts';
import { openBoss } from './boss.ts';
import { type Database, openDatabase } from './database.ts';
import { checkEngineUrl, showEngine } from './engine-url.ts';
import { migrate } from './schema.ts';
import { type HeadOfRuns, work } from './worker.ts';

/** What a head and the hands of a worker stand on. */
export interface WorkerGround {
  db: Database;
  account: string;
  tell(news: WorkerNews): void;
}

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
  makeHead(ground: WorkerGround, seat: Seat, signal: AbortSignal): HeadOfRuns;
  /** The store that this worker reaches, and how files get there. */
  store?: { id: string; name: string; files: number; serve(ground: WorkerGround, signal: AbortSignal): Promise<void> };
}

/** Opens the engine and works for it until it is told to end. */
export async function startWorker(options: StartWorkerOptions): Promise<void> {
  const { engine, access, sandbox, clock, signal, tell, store } = options;
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
    const ground = { db, account, tell };
    const server = showEngine(engine);
    const files = store?.files ?? 0;
    tell({
      is: 'started',
      worker: id,
      account,
      service: sandbox === undefined ? access.baseUrl : 'the embedded sandbox',
      server,
      files,
      ...(store && { store: store.name }),
    });
    try {
      await work({
        ...{ db, boss, clock, id, account, files, redact, signal, tell },
        version: options.version,
        store: store?.id,
        exitWhenIdle: options.exitWhenIdle,
        makeHead: (seat, until) => options.makeHead(ground, seat, until),
        ...(store && { serveFiles: (until: AbortSignal) => store.serve(ground, until) }),
      });
    } finally {
      await boss.stop({ graceful: false });
    }
  } finally {
    await db.close();
  }
}
