import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { makeFolder } from './folder.ts';

/** Programs of a server that the `pg_dump` of this machine can dump: those of its own version. Undefined: there are none. */
export const dumpedPrograms = findPrograms();

function findPrograms(): string | undefined {
  try {
    const [, major] = /(\d+)\./.exec(execFileSync('pg_dump', ['--version'], { encoding: 'utf8' })) ?? [];
    const folder = `/usr/lib/postgresql/${major}/bin`;
    return existsSync(join(folder, 'postgres')) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** A server of a test's own with the superuser `postgres` and nothing else. Its port. */
export async function emptyServer(programs: string): Promise<string> {
  const folder = makeFolder();
  // It refuses root.
  const isRoot = process.getuid?.() === 0;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const as = isRoot ? { uid: id('-u'), gid: id('-g') } : {};
  if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid);
  chmodSync(folder, 0o700);
  const data = join(folder, 'data');
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust'], { ...as, cwd: '/' });
  const port = await freePort();
  const words = ['-D', data, '-p', port, '-h', '127.0.0.1', '-k', '', '-c', 'fsync=off'];
  const server = spawn(join(programs, 'postgres'), words, { ...as, cwd: '/', stdio: 'ignore' });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  onTestFinished(async () => {
    server.kill('SIGQUIT');
    await ended;
  });
  const answers = () => runSql(`postgres://postgres@127.0.0.1:${port}/postgres`, ['SELECT 1']);
  await vi.waitFor(answers, { timeout: 60_000, interval: 200 });
  return port;
}

/** Makes the user and the database of the ten minutes, as the image of PostgreSQL does. */
export function makeMedia(url: string): Promise<void> {
  return runSql(url, ["CREATE ROLE media LOGIN PASSWORD 'play'", 'CREATE DATABASE media OWNER media']);
}

async function runSql(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

export function freePort(): Promise<string> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(String(port)));
    });
  });
}
