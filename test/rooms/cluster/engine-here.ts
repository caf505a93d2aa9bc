import { onTestFinished } from 'vitest';
import { type Boss, openBoss } from '../../../src/cluster/database/boss.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { takeSeat } from '../../../src/cluster/head/account.ts';
import { Head } from '../../../src/cluster/head/head.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import { openFresh } from '../../rig/postgres.ts';

/** A fresh database with its queue, until the test ends. */
export async function engineHere(): Promise<{ url: string; db: Database; boss: Boss }> {
  const { url, database } = await openFresh();
  const boss = await openBoss(database);
  onTestFinished(() => boss.stop({ graceful: false }));
  return { url, db: database, boss };
}

/** A head of the account that runs until the test ends. */
export async function headHere(
  { db, boss }: { db: Database; boss: Boss },
  { account, ...more }: Partial<ConstructorParameters<typeof Head>[0]> & { account: string },
) {
  const seat = await takeSeat({ db, boss, account, worker: 'one' });
  if (seat === undefined) throw new Error('the seat is not free');
  const end = new AbortController();
  const head = new Head({
    ...{ db, boss, account, seat, signal: end.signal, own: undefined, replays: 'yes', accountOf: () => undefined },
    access: { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key' },
    seal: makeSeal('key'),
    clock: systemClock,
    redact: (text) => text,
    onSize: () => {},
    tell: () => {},
    ...more,
  });
  const running = head.run();
  const leave = async () => {
    end.abort();
    await running.catch(() => {});
    seat.lease.lose();
  };
  running.catch(() => {});
  onTestFinished(leave);
  return { head, seat, running, leave };
}

export { submission } from './submission.ts';
