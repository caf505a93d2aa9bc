import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TestContext } from 'vitest';
import { openStore } from '../../../src/cluster/store/store.ts';
import { bin, root, temporaryFolder } from '../../rig/command.ts';
import type { Ended } from '../../rig/program.ts';
import { Judge } from './judge.ts';
import { Processes, type Running } from './processes.ts';
import { Server } from './server.ts';
import { Watch } from './watch.ts';

/** An environment in which a command loads these files of the rig before itself. */
export function loading(...names: string[]): { NODE_OPTIONS: string } {
  const urls = [...preloads, ...names.map((name) => preload(`cluster/rig/${name}`))];
  return { NODE_OPTIONS: urls.map((url) => `--import ${url}`).join(' ') };
}

const preload = (name: string) => pathToFileURL(join(root, 'test', name)).href;
const preloads = [preload('cluster/rig/short-waits.mjs'), preload('cluster/rig/from-address.mjs')];

/** Answers of a create are awaited so long, in s; a new head waits for as long, too. */
const createSeconds = 5;

/** A folder that all tests of this process share: what is made once. */
const shared = temporaryFolder();
process.once('exit', () => shared.remove());

/** A service, a Postgres, a store, a campaign and whatever was started: of one test, and gone with it. */
export class ClusterPlace {
  readonly folder: string;
  readonly store: string;
  readonly judge = new Judge();
  readonly processes: Processes;
  readonly server: Server;
  /** The campaign's folder. */
  readonly home: string;
  key = 'booking_live_one';
  #started = 0;

  private constructor(folder: string, processes: Processes, server: Server) {
    this.folder = folder;
    this.processes = processes;
    this.server = server;
    this.store = join(folder, 'store');
    this.home = join(folder, 'home');
    for (const path of [this.store, this.home]) mkdirSync(path, { recursive: true });
  }

  static async make(
    onTestFinished: TestContext['onTestFinished'],
    { diskBytes }: { diskBytes?: number } = {},
  ): Promise<ClusterPlace> {
    const { path, remove } = temporaryFolder();
    const processes = new Processes(path);
    onTestFinished(async () => {
      await processes.end();
      await place?.judge.close();
      remove();
    });
    const server = await Server.make(shared.path, path, { processes, diskBytes });
    const place: ClusterPlace | undefined = new ClusterPlace(path, processes, server);
    await place.judge.open();
    // Workers may be there before the first submit.
    await openStore(place.store, { makes: true });
    return place;
  }

  get env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: this.folder,
      XDG_STATE_HOME: join(this.folder, 'state'),
      MEDIABATCH_BASE_URL: this.judge.url,
      MEDIABATCH_API_KEY: this.key,
      ...loading(),
    };
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.home, name), text);
  }

  path(name: string): string {
    return join(this.home, name);
  }

  /** Any command, started and not awaited; each has an address of its own towards the service. */
  start(args: readonly string[], options: { env?: NodeJS.ProcessEnv; cwd?: string; under?: string[] } = {}): Running {
    this.#started += 1;
    const from = `127.0.0.${this.#started + 1}`;
    const { under = [], cwd = this.home, env } = options;
    return this.processes.start(`${args[0]} ${from}`, [...under, process.execPath, bin, ...args], {
      cwd,
      env: { ...this.env, MEDIABATCH_TEST_FROM: from, MEDIABATCH_ENGINE: this.server.url, ...env },
    });
  }

  async run(args: readonly string[], options: { env?: NodeJS.ProcessEnv; cwd?: string } = {}): Promise<Ended> {
    return this.start(args, options).ended;
  }

  worker(args: readonly string[] = [], options: { env?: NodeJS.ProcessEnv; under?: string[] } = {}): Running {
    return this.start(['worker', '--store', this.store, ...args], { cwd: this.folder, ...options });
  }

  /** Starts an `apply` on the engine. */
  submit(args: readonly string[] = [], options: { env?: NodeJS.ProcessEnv; cwd?: string } = {}): Running {
    return this.start([...applyWords, '--engine', this.server.url, ...args], options);
  }

  /** The same campaign by one process, in a copy of the folder, without the engine. */
  applyLocally(cwd = this.home, args: readonly string[] = []): Promise<Ended> {
    return this.run([...applyWords, ...args], { cwd, env: { MEDIABATCH_ENGINE: '' } });
  }

  watch(budget: number, cap: number): Watch {
    this.judge.cap = cap;
    return new Watch({ judge: this.judge, url: this.server.url, budget });
  }
}

export const applyWords = ['apply', 'campaign.yaml', '--yes', '--request-timeout', String(createSeconds)] as const;

/** Number of runs that the engine has, and that have not ended; 0 as long as it has no tables. */
export async function openRuns({ server }: ClusterPlace): Promise<number> {
  const text = "SELECT count(*)::int AS runs FROM mediabatch.run WHERE state = 'open'";
  const [row] = await server.ask<{ runs: number }>(text).catch(() => []);
  return row?.runs ?? 0;
}
