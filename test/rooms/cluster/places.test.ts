import { expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/cluster/database/database.ts';
import { smallServer } from '../../rig/small-postgres.ts';

async function opened(url: URL, keepsOneFree: boolean): Promise<Database> {
  const database = await openDatabase(url.href, { name: 'test', keepsOneFree });
  onTestFinished(() => database.close());
  return database;
}

test('workers leave the last connection of a server to a person', async () => {
  const server = await smallServer();
  const owner = await openDatabase(server.url, { name: 'owner' });
  await owner.query("CREATE ROLE media LOGIN PASSWORD 'word'");
  await owner.close();
  const url = Object.assign(new URL(server.url), { username: 'media', password: 'word' });
  const workers = [await opened(url, true), await opened(url, true)];
  for (const one of workers) await one.listen('news', () => {});
  const late: unknown = await opened(url, true).catch((error: unknown) => error);
  expect(late).toMatchObject({ failure: { code: 'MB3702', hint: expect.stringMatching(/all its connections/) } });
  const person = await opened(url, false);
  expect(await person.query('SELECT 7 AS it')).toEqual([{ it: 7 }]);
});
