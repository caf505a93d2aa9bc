import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../src/cluster/database/database.ts';
import { migrate } from '../../src/cluster/database/schema.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of whoever starts the one server of a test run when it is first asked for (`postgres-setup.ts`). */
    postgresAt: string;
  }
}

/** Address of a new, empty database on the server of this test run. It goes with the test. */
export async function freshDatabase(): Promise<string> {
  const answer = await fetch(inject('postgresAt'));
  const url = await answer.text();
  if (!answer.ok) throw new Error(url);
  const name = `t${randomBytes(6).toString('hex')}`;
  const run = async (text: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(text);
    await client.end();
  };
  await run(`CREATE DATABASE ${name}`);
  onTestFinished(() => run(`DROP DATABASE ${name} WITH (FORCE)`));
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

/** The same with the tables. */
export async function openFresh(
  options: Partial<Parameters<typeof openDatabase>[1]> = {},
): Promise<{ url: string; database: Database }> {
  const url = await freshDatabase();
  const database = await openDatabase(url, { name: 'test', ...options });
  onTestFinished(() => database.close());
  await migrate(database);
  return { url, database };
}
