import { onTestFinished } from 'vitest';
import { type Boss, openBoss } from '../../../src/cluster/database/boss.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { openFresh } from '../../rig/postgres.ts';

/** A fresh database with its queue, until the test ends. */
export async function engineHere(): Promise<{ url: string; db: Database; boss: Boss }> {
  const { url, database } = await openFresh();
  const boss = await openBoss(database);
  onTestFinished(() => boss.stop({ graceful: false }));
  return { url, db: database, boss };
}

export { submission } from './submission.ts';
