import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../../rig/free-port.ts';
import { password, prepareServer } from '../../rig/postgres-server.ts';
import { type Processes, type Running, until } from './processes.ts';

type Programs = Awaited<ReturnType<typeof prepareServer>>;

const run = promisify(execFile);

/** A cluster as `initdb` leaves it, made once in each process that tests. */
let template: Promise<Programs> | undefined;

/** A folder on a disk of its own, in a name space that lasts as long as its process. */
async function mountDisk(options: {
  data: string;
  from: string;
  diskBytes: number;
  processes: Processes;
}): Promise<Running> {
  const { data, from, diskBytes, processes } = options;
  mkdirSync(data);
  const script = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && cp -a "$3/." "$2" && echo ready && exec sleep 3600';
  const words = ['unshare', '--mount', 'sh', '-c', script, 'sh', String(diskBytes), data, from];
  const holder = processes.start('disk', words, { cwd: '/', env: { PATH: process.env.PATH } });
  await until(`there is a disk; ${holder.err()}`, () => holder.out().includes('ready') || !holder.isRunning());
  return holder;
}

/** A Postgres of a test alone, durable as it is by default, that can be killed, stopped and started again. */
export class Server {
  readonly url: string;
  readonly data: string;
  readonly #processes: Processes;
  readonly #programs: Programs;
  readonly #port: string;
  #postmaster: Running | undefined;
  /** Whoever holds the mount of its own disk. */
  #disk: Running | undefined;

  private constructor(data: string, port: string, how: { programs: Programs; processes: Processes }) {
    this.data = data;
    this.#port = port;
    this.#programs = how.programs;
    this.#processes = how.processes;
    this.url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  }

  /**
   * `shared`: a folder of all tests of this process; `folder`: of this test. `diskBytes`: on a disk of its own, of that
   * size, which only its own processes see (Linux, root).
   */
  static async make(
    shared: string,
    folder: string,
    { processes, diskBytes }: { processes: Processes; diskBytes?: number | undefined },
  ): Promise<Server> {
    // As root the server runs as another user.
    for (const path of [shared, folder]) chmodSync(path, 0o711);
    template ??= prepareServer(join(shared, 'template'));
    const programs = await template;
    const [from, data] = [join(shared, 'template/data'), join(folder, 'postgres')];
    const server = new Server(data, await freePort(), { programs, processes });
    if (diskBytes === undefined) await run('cp', ['-a', from, data]);
    else server.#disk = await mountDisk({ data, from, diskBytes, processes });
    await server.start();
    return server;
  }

  /**
   * Until it answers. It is tried again while its backends hold its memory after a kill, or a connection of another
   * process has its port.
   */
  async start({ under = [] }: { under?: string[] } = {}): Promise<void> {
    const words = ['-D', this.data, '-p', this.#port, '-h', '127.0.0.1', '-k', ''];
    const { bin, owner } = this.#programs;
    const given =
      owner === undefined ? [] : ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
    const limits = ['-c', 'shared_buffers=32MB', '-c', 'max_connections=60', '-c', 'min_wal_size=32MB'];
    const inside = this.#disk === undefined ? [] : ['nsenter', `--mount=/proc/${this.#disk.pid}/ns/mnt`];
    for (let tries = 0; tries < 100; tries += 1) {
      this.#postmaster = this.#processes.start(
        'postgres',
        [...inside, ...given, ...under, join(bin, 'postgres'), ...words, ...limits],
        {
          cwd: this.data,
          env: { PATH: process.env.PATH, TZ: 'UTC' },
        },
      );
      const { ended } = this.#postmaster;
      const answers = this.#answers();
      if ((await Promise.race([ended.then(() => 'ended'), answers])) === 'answers') return;
      if (!/shared memory|lock file|Address already in use/.test(this.#postmaster.err())) break;
      await wait(200);
    }
    throw new Error(`Postgres does not start: ${this.#postmaster?.err()}`);
  }

  /** A path of its data folder, as this process can reach it. */
  inside(name: string): string {
    return this.#disk === undefined ? join(this.data, name) : `/proc/${this.#disk.pid}/root${join(this.data, name)}`;
  }

  async #answers(): Promise<'answers' | 'ended'> {
    while (this.#postmaster?.isRunning()) {
      if (
        await this.ask('SELECT 1').then(
          () => true,
          () => false,
        )
      )
        return 'answers';
      await wait(50);
    }
    return 'ended';
  }

  /** As by a power cut of its process: its children end when they notice. */
  async kill(): Promise<void> {
    this.#postmaster?.signal('SIGKILL');
    await this.#postmaster?.ended;
  }

  /** As an administrator restarts it: connections are cut, nothing is lost. */
  async stop(): Promise<void> {
    this.#postmaster?.signal('SIGINT');
    await this.#postmaster?.ended;
  }

  /** Copies its folder while it is stopped, as a snapshot of its volume. */
  async copy(name: string): Promise<void> {
    await run('cp', ['-a', this.data, `${this.data}-${name}`]);
  }

  async putBack(name: string): Promise<void> {
    await run('rm', ['-rf', this.data]);
    await run('cp', ['-a', `${this.data}-${name}`, this.data]);
  }

  /** One question on a connection of its own. Rejects while the server is away. */
  async ask<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    // As patient as the engine itself: on a busy machine a server needs seconds to answer.
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 10_000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** All that lies in the files of the database, as it is on disk, and the text of every row of every table. */
  async dump(): Promise<string> {
    const tables = await this.ask<{ name: string }>(
      `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const rows = await this.ask<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      texts.push(`${name}\n${rows.map(({ row }) => row).join('\n')}`);
    }
    return texts.join('\n\n');
  }
}
