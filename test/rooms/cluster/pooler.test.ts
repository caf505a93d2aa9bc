import { describe, expect, onTestFinished, test } from 'vitest';
import { openBoss } from '../../../src/cluster/database/boss.ts';
import { openDatabase } from '../../../src/cluster/database/database.ts';
import { migrate } from '../../../src/cluster/database/schema.ts';
import { isAway } from '../../../src/cluster/database/server-errors.ts';
import { pooler, poolerBefore } from '../../rig/pooler.ts';
import { freshDatabase } from '../../rig/postgres.ts';
import { smallServer } from '../../rig/small-postgres.ts';

async function openThrough(mode: 'session' | 'transaction', server?: string) {
  const direct = server ?? (await freshDatabase());
  const url = await poolerBefore(direct, mode);
  const database = await openDatabase(url, { name: 'test' });
  onTestFinished(() => database.close());
  return { database };
}

if (pooler === undefined) process.stderr.write('test/rooms/cluster/pooler: PgBouncer is not installed; skipped\n');

describe.runIf(pooler !== undefined)('behind PgBouncer with its defaults', () => {
  test('which keeps sessions, everything of ours holds: settings, LISTEN, the queue', async () => {
    const { database } = await openThrough('session');
    await migrate(database);
    const boss = await openBoss(database);
    onTestFinished(() => boss.stop({ graceful: false }));
    await boss.createQueue('one');
    expect(await boss.send('one', {})).toEqual(expect.any(String));
    const limit = "SELECT current_setting('idle_in_transaction_session_timeout') AS limit";
    expect(await database.query(limit)).toEqual([{ limit: '10s' }]);
    const heard: (string | undefined)[] = [];
    await database.listen('news', (payload) => heard.push(payload));
    await database.query("NOTIFY news, 'first'");
    await expect.poll(() => heard).toEqual([undefined, 'first']);
  });

  test('which shares connections between transactions, it is refused with that as its reason', async () => {
    await expect(openThrough('transaction')).rejects.toMatchObject({
      failure: { code: 'MB3702', message: expect.stringMatching(/between transactions/) },
    });
  });

  test('a server that is started anew is waited for', async () => {
    const server = await smallServer();
    const { database } = await openThrough('session', server.url);
    const heard: (string | undefined)[] = [];
    await database.listen('news', (payload) => heard.push(payload));
    await server.stop();
    const asked = database.query('SELECT 7 AS it');
    asked.catch(() => {});
    await server.startAgain();
    expect(await asked).toEqual([{ it: 7 }]);
    await expect.poll(() => heard).toEqual([undefined, undefined]);
  });
});

test('a pooler without a server is away, as a server is', () => {
  const error = Object.assign(new Error('server login has been failing, try again later'), { code: '08P01' });
  expect(isAway(error)).toBe(true);
});
