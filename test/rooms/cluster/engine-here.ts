import { onTestFinished } from 'vitest';
import { type Boss, openBoss } from '../../../src/cluster/boss.ts';
import type { Database } from '../../../src/cluster/database.ts';
import { openFresh } from '../../rig/postgres.ts';

/** A fresh database with its queue, until the test ends. */
export async function engineHere({ supervises = false } = {}): Promise<{ url: string; db: Database; boss: Boss }> {
  const { url, database } = await openFresh();
  const boss = await openBoss(url, database, { supervises, onError: () => {} });
  onTestFinished(() => boss.stop({ graceful: false }));
  return { url, db: database, boss };
}

export { submission } from './submission.ts';
