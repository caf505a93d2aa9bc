import { type Boss, openBoss } from './database/boss.ts';
import { type Database, openDatabase } from './database/database.ts';
import { hasTables, migrate } from './database/schema.ts';
import { showEngine } from './database/server-errors.ts';
import { accountOf } from './seal.ts';

export interface Engine {
  database: Database;
  boss: Boss;
  account: string;
  shown: string;
  close(): Promise<void>;
}

interface EngineEars {
  onAway(error: Error): void;
  onBack(): void;
}

/** Opens the engine. All calls end when `signal` aborts. Throws MB3701 to MB3705. */
export async function openEngine(
  url: string,
  account: Parameters<typeof accountOf>[0],
  { onAway, onBack, signal }: EngineEars & { signal: AbortSignal },
): Promise<Engine> {
  const database = await openDatabase(url, { name: 'mediabatch-apply', onAway, onBack, signal });
  try {
    await migrate(database);
    const boss = await openBoss(database);
    return {
      ...{ database, boss, account: accountOf(account), shown: showEngine(url) },
      async close() {
        await boss.stop({ graceful: false }).catch(() => {});
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

export type EngineToSee = Omit<Engine, 'boss'>;

/** Opens the engine for reading; undefined if its tables do not exist. Throws as `openEngine` does. */
export async function openToSee(
  url: string,
  account: Parameters<typeof accountOf>[0],
  { onAway, onBack }: EngineEars,
): Promise<EngineToSee | undefined> {
  const database = await openDatabase(url, { name: 'mediabatch', most: 1, onAway, onBack });
  const engine = { database, account: accountOf(account), shown: showEngine(url), close: () => database.close() };
  try {
    if (await hasTables(database)) return engine;
  } catch (error) {
    await database.close();
    throw error;
  }
  await database.close();
  return undefined;
}
