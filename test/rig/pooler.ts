import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';

/** PgBouncer, if this machine has it. */
export const pooler = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'pgbouncer'))
  .find((path) => existsSync(path));

/** Starts PgBouncer before the database at `url`, with its defaults but for the mode, and for how soon it tries a server again. It ends with the test. */
export async function poolerBefore(url: string, mode: 'session' | 'transaction'): Promise<string> {
  if (pooler === undefined) throw new Error('this machine has no PgBouncer');
  const { username, password, hostname, port, pathname } = new URL(url);
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-pooler-'));
  chmodSync(folder, 0o755);
  const own = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const target = `host=${hostname} port=${port} user=${username} password=${password}`;
  const settings = [
    `[databases]\n${pathname.slice(1)} = ${target}`,
    `[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${own}\nunix_socket_dir =\nauth_type = any\npool_mode = ${mode}\nserver_login_retry = 1`,
  ];
  writeFileSync(file, `${settings.join('\n')}\n`);
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(pooler, [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  });
  await untilUp(child);
  return `postgres://any@127.0.0.1:${own}${pathname}`;
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

function untilUp(child: ChildProcess): Promise<void> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`PgBouncer has ended: ${said}`)));
    child.stderr?.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (said.includes('process up')) resolve();
    });
  });
}
