import { type Boss, openBoss } from './database/boss.ts';
import { type Database, openDatabase } from './database/database.ts';
import { migrate } from './database/schema.ts';
import { showEngine } from './database/server-errors.ts';
import { accountOf } from './seal.ts';

export interface Engine {
  database: Database;
  boss: Boss;
  account: string;
  shown: string;
  close(): Promise<void>;
}

/** Connects a client to an engine. All calls of the client end when `signal` is aborted. Throws MB3701 to MB3705. */
export async function openEngine(
  url: string,
  account: Parameters<typeof accountOf>[0],
  options: { onUnreachable(error: Error): void; onBack(): void; signal: AbortSignal },
): Promise<Engine> {
  const database = await openDatabase(url, { name: 'mediabatch-apply', ...options });
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
