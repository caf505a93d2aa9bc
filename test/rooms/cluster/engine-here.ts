import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { type Boss, openBoss } from '../../../src/cluster/boss.ts';
import { type Database, openDatabase } from '../../../src/cluster/database.ts';
import type { Submission } from '../../../src/cluster/run-record.ts';
import { migrate } from '../../../src/cluster/schema.ts';

/** A fresh database with its queue, until the test ends. */
export async function engineHere({ supervises = false } = {}): Promise<{ url: string; db: Database; boss: Boss }> {
  const admin = process.env.MEDIABATCH_TEST_PG_URL ?? '';
  const name = `t${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client(admin);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  const db = await openDatabase(url.href, { name: 'test' });
  await migrate(db);
  const boss = await openBoss(url.href, db, { supervises, onError: () => {} });
  onTestFinished(async () => {
    await boss.stop({ graceful: false });
    await db.close();
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.end();
  });
  return { url: url.href, db, boss };
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
