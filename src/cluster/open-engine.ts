import { type AccountFacts, accountOf } from './account-id.ts';
import { type Boss, openBoss } from './boss.ts';
import { type Database, openDatabase } from './database.ts';
import { checkEngineUrl, showEngine } from './engine-url.ts';
import { migrate } from './schema.ts';

/** An engine, as whoever submits and watches runs needs it. */
export interface Engine {
  database: Database;
  boss: Boss;
  /** Whose runs they are. */
  account: string;
  /** Its address without what signs in. */
  shown: string;
  close(): Promise<void>;
}

export interface EngineEars {
  onAway(error: Error): void;
  onBack(): void;
}

/** `signal`: aborted, every call ends. `shown`: its name for people, where its address says nothing. Throws MB3701 to MB3705. */
export async function openEngine(
  url: string,
  account: AccountFacts,
  { onAway, onBack, signal, shown = showEngine(url) }: EngineEars & { signal: AbortSignal; shown?: string | undefined },
): Promise<Engine> {
  const database = await openDatabase(checkEngineUrl(url), { name: 'mediabatch-apply', onAway, onBack, signal });
  try {
    await migrate(database);
    // What the queue does by itself is the workers' business.
    const boss = await openBoss(url, database, { supervises: false, onError: () => {} });
    return {
      ...{ database, boss, account: accountOf(account), shown },
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
