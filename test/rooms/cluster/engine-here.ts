import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { type Boss, openBoss } from '../../../src/cluster/boss.ts';
import type { Database } from '../../../src/cluster/database.ts';
import type { Submission } from '../../../src/cluster/run-record.ts';
import { openFresh } from '../../rig/postgres.ts';

/** A fresh database with its queue, until the test ends. */
export async function engineHere({ supervises = false } = {}): Promise<{ url: string; db: Database; boss: Boss }> {
  const { url, database } = await openFresh();
  const boss = await openBoss(url, database, { supervises, onError: () => {} });
  onTestFinished(() => boss.stop({ graceful: false }));
  return { url, db: database, boss };
}

/** A run with nothing to do. */
export function submission({
  account,
  campaign = 'spring',
  store = null,
}: {
  account: string;
  campaign?: string;
  store?: string | null;
}): Submission {
  return {
    id: randomUUID(),
    account,
    campaign,
    sandbox: false,
    settings: {
      concurrency: 10,
      onError: 'continue',
      onUnknown: 'ask',
      creditWaitMs: 0,
      createTimeoutMs: 7000,
      requestTimeoutMs: 5000,
    },
    totals: {} as Submission['totals'],
    header: {} as Submission['header'],
    origin: { host: 'here', user: 'me', manifest: 'campaign.yaml' },
    store,
    orders: [],
    lines: [],
  };
}
