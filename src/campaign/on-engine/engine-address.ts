import type { Shown } from '../../cluster/engine-state.ts';
import { systemClock } from '../../contract/clock.ts';
import type { EngineState, WorkerNews } from '../../contract/engine-state.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { SpendingLimits } from '../../contract/spending.ts';
import { type Access, accountDigest } from '../environment.ts';

/**
 * Returns the address of the engine: the given one, or `MEDIABATCH_ENGINE`. Never reads a `.env`, because a file in a
 * branch could name an engine. Throws MB3705 if the given address is empty, for example from a variable that is not
 * set.
 */
export function engineOf(given: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  if (given?.trim() === '')
    throw new CampaignError({
      code: 'MB3705',
      message: '--engine is empty, and names no engine',
      hint: 'leave it out, or give the address of the database: postgres://user@host:5432/database',
    });
  return given ?? (env.MEDIABATCH_ENGINE?.trim() || undefined);
}

/** Returns the address of the engine like `engineOf`, but throws MB3705 if there is none. */
export function requireEngine(
  given: string | undefined,
  env: NodeJS.ProcessEnv,
  { cancels = false }: { cancels?: boolean } = {},
): string {
  const engine = engineOf(given, env);
  if (engine !== undefined) return engine;
  throw new CampaignError({
    code: 'MB3705',
    message: 'no engine is named: neither --engine nor MEDIABATCH_ENGINE is given',
    hint: cancels
      ? 'a local run ends with Ctrl-C in its terminal; for a run on an engine, set the address of its database: MEDIABATCH_ENGINE=postgres://user@host:5432/database'
      : 'give the address of the database: MEDIABATCH_ENGINE=postgres://user@host:5432/database',
  });
}

/** Reads runs, accounts and workers of an engine once. Needs no API key. */
export async function lookAtEngine(engine: string, shown?: Shown): Promise<EngineState> {
  const [{ openDatabase }, { checkEngineUrl }, { hasTables }, { readEngineState }] = await Promise.all([
    import('../../cluster/database/database.ts'),
    import('../../cluster/database/engine-url.ts'),
    import('../../cluster/database/schema.ts'),
    import('../../cluster/engine-state.ts'),
  ]);
  const db = await openDatabase(checkEngineUrl(engine), { name: 'mediabatch workers', most: 1 });
  try {
    if (!(await hasTables(db))) return { runs: [], accounts: [], workers: [] };
    return await readEngineState(db, shown);
  } finally {
    await db.close();
  }
}

/** Versions of the tables before and after the migration; 0 if there were none. */
interface Migrated {
  before: number;
  now: number;
}

/**
 * Creates the tables of an engine, or migrates them to this version. `grantTo`: a role that gets the right to use them.
 */
export async function migrateEngine(engine: string, grantTo: string | undefined): Promise<Migrated> {
  const [{ openDatabase }, { checkEngineUrl }, { migrate, grant }, { openBoss }] = await Promise.all([
    import('../../cluster/database/database.ts'),
    import('../../cluster/database/engine-url.ts'),
    import('../../cluster/database/schema.ts'),
    import('../../cluster/database/boss.ts'),
  ]);
  const db = await openDatabase(checkEngineUrl(engine), { name: 'mediabatch engine migrate', most: 2 });
  try {
    const migrated = await migrate(db);
    const boss = await openBoss(db);
    await boss.stop({ graceful: false });
    if (grantTo !== undefined) await grant(db, grantTo);
    return migrated;
  } finally {
    await db.close();
  }
}

interface WorkOnEngineOptions {
  engine: string;
  access: Access;
  store: string | undefined;
  /** Files that are saved at once. */
  files: number;
  port: { port: number; host: string } | undefined;
  /** Spending limits of this worker, for all campaigns together. */
  limits?: SpendingLimits | undefined;
  /** Ended runs of the account are removed after this time, in ms. */
  keepMs?: number | undefined;
  exitWhenIdle: boolean;
  /** Aborted when the worker has to end as soon as its account has no open run. */
  drain?: AbortSignal | undefined;
  version: string;
  /** Aborted when the worker has to hand over and end. Its reason is reported. */
  signal: AbortSignal;
  tell(news: WorkerNews): void;
  /** Receives the number of steps of a run before they are read. */
  onSize(known: { steps: number }): void;
}

export async function workOnEngine(options: WorkOnEngineOptions): Promise<void> {
  const { startWorker } = await import('../../cluster/worker/start-worker.ts');
  const { access } = options;
  const accountOf = (send: string) => accountDigest(send, false, access);
  await startWorker({ ...options, accountOf, clock: systemClock });
}
