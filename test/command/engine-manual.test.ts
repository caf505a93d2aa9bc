import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { openStore } from '../../src/cluster/store/store.ts';
import { root } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { freePort } from '../rig/free-port.ts';
import { blocksOf } from '../rig/manual-pages.ts';
import { freshDatabase } from '../rig/postgres.ts';
import { startPostgres } from '../rig/postgres-server.ts';
import { type Terminal, typeInto } from '../rig/terminal.ts';

/** Programs of a server that the `pg_dump` of this machine can dump: those of its own version. */
const dumpedPrograms = findDumpedPrograms();

function findDumpedPrograms(): string | undefined {
  try {
    const [, major] = /(\d+)\./.exec(execFileSync('pg_dump', ['--version'], { encoding: 'utf8' })) ?? [];
    const folder = `/usr/lib/postgresql/${major}/bin`;
    return existsSync(join(folder, 'postgres')) ? folder : undefined;
  } catch {
    return undefined;
  }
}

describe('engine manual', () => {
  /** What the pages have people type, or see, in the terminal of this name. */
  function read(language: 'sh' | 'text', name: string): string {
    const found = ['engine', 'operate']
      .flatMap((page) => blocksOf(page, language))
      .find((block) => block.name === name);
    if (found === undefined) throw new Error(`the pages have no block ${name}`);
    return found.text;
  }

  /** Expects lines to be said in this order; `…` stands for anything. */
  function expectSaid(said: string, lines: string): void {
    let rest = said;
    for (const line of lines.split('\n')) {
      const parts = line.split('…').map((part) => part.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      const found = new RegExp(parts.join('.*')).exec(rest);
      expect(found, `“${line}” in ${said}`).not.toBeNull();
      rest = rest.slice((found?.index ?? 0) + (found?.[0].length ?? 0));
    }
  }

  /** The terminals of the page, with the service running in the first. Ports are free ones: those of the page may be taken. */
  async function openTerminals(database: string) {
    const folder = makeFolder();
    const port = await freePort();
    const env = { PGPORT: new URL(database).port };
    const variables = read('sh', 'terminal variables').replaceAll('4010', port);
    const service = typeInto(folder, `${read('sh', 'terminal service')} --port ${port}`, env);
    await waitFor(service, 'to use the sandbox from another terminal');
    const type = (lines: string, below = '.') =>
      typeInto(folder, `${variables}\ncd ${below}\n${lines.replaceAll('db.example', '127.0.0.1')}`, env);
    /** Types lines until they have ended well; resolves with what was said. */
    const done = async (lines: string, below = '.') => {
      const typed = type(lines, below);
      expect(await typed.ended, typed.said()).toBe(0);
      return typed.said();
    };
    const inFolder = (name: string) => join(folder, name);
    const bought = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/sandbox/state`);
      const { jobs } = (await answer.json()) as { jobs: { id: string }[] };
      return jobs.map(({ id }) => id).sort();
    };
    return { type, done, inFolder, bought, worker: () => type(read('sh', 'terminal worker')) };
  }

  const waitFor = (terminal: Terminal, text: string) =>
    vi.waitFor(() => expect(terminal.said()).toContain(text), { timeout: 120_000, interval: 100 });

  /** Starts a server with the superuser `postgres` and nothing else. */
  async function emptyServer(programs?: string): Promise<string> {
    const folder = makeFolder();
    // As root the server runs as another user.
    chmodSync(folder, 0o755);
    const server = await startPostgres(join(folder, 'engine'), { fsync: 'off' }, programs);
    onTestFinished(() => server.stop());
    return server.url;
  }

  /** Makes the user and the database of the ten minutes, as the image of PostgreSQL does. */
  async function serverOfThePage(): Promise<string> {
    const url = await emptyServer();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("CREATE ROLE media LOGIN PASSWORD 'play'");
    await client.query('CREATE DATABASE media OWNER media');
    await client.end();
    return url;
  }

  test('the commands of the first ten minutes work as documented', async () => {
    const { type, worker } = await openTerminals(await serverOfThePage());
    const workers = [worker(), worker()];
    // Both are there before the campaign, which may end sooner than the second has started.
    for (const one of workers) await waitFor(one, 'the worker starts when the store can be used');
    const campaign = type(read('sh', 'terminal campaign'));
    expect(await campaign.ended, campaign.said()).toBe(0);
    expectSaid(campaign.said(), read('text', 'campaign'));
    const head = workers.find((one) => one.said().includes('leader of the account'));
    await waitFor(head as Terminal, 'leader no longer');
    expectSaid(head?.said() ?? '', read('text', 'worker'));
    await workers[0]?.interrupt();
    expect(workers[0]?.said()).toContain('worker ends: SIGINT');
    const again = type(read('sh', 'terminal again'), 'spring');
    expect(await again.ended, again.said()).toBe(0);
    expectSaid(again.said(), read('text', 'again'));
  }, 300_000);

  if (dumpedPrograms === undefined)
    process.stderr.write(
      'test/command/engine-manual: no pg_dump with a server of its version; putting back is skipped\n',
    );

  test.runIf(dumpedPrograms !== undefined)(
    'the commands of both pages work with the roles of the page, and a backup that is put back buys nothing twice',
    async () => {
      const { type, done, inFolder, worker, bought } = await openTerminals(await emptyServer(dumpedPrograms));
      await done(read('sh', 'terminal roles'));
      // Without a worker nothing is bought yet, so a restored database has lost every purchase.
      await done('mkdir -p store');
      const campaign = type(read('sh', 'terminal campaign'));
      await waitFor(campaign, 'no worker of this account runs');
      for (const act of ['pause', 'resume']) await done(`mediabatch ${act} campaign.yaml`, 'spring');
      await done(read('sh', 'terminal backup'));
      const first = worker();
      expect(await campaign.ended, campaign.said()).toBe(0);
      for (const command of read('sh', 'terminal operate').split('\n')) {
        const here = command.replace('/mnt/media', 'store').replace('9102', await freePort());
        await done(here.replace('mediabatch worker ', 'mediabatch worker --exit-when-idle '));
      }
      const before = await bought();
      await first.interrupt();
      await done(read('sh', 'terminal restore'));
      const apply = type('mediabatch apply campaign.yaml --store ../store --yes', 'spring');
      await waitFor(apply, 'this command sent the records of this lock');
      worker();
      expect(await apply.ended, apply.said()).toBe(0);
      expect(apply.said()).toContain('all 15 steps done');
      const jobs = readFileSync(inFolder('spring/campaign.lock.jsonl'), 'utf8').match(/"jobId":"[^"]+"/g) ?? [];
      expect(new Set(jobs).size).toBe(15);
      expect(await bought()).toEqual(before);
      expect(before).toHaveLength(15);
    },
    300_000,
  );

  test.runIf(dumpedPrograms !== undefined)(
    'a run is ended, a worker drained and the tables migrated with the roles of the page, and nothing is bought twice',
    async () => {
      const { type, done, worker, bought } = await openTerminals(await emptyServer(dumpedPrograms));
      await done(read('sh', 'terminal roles'));
      await done('mkdir -p store\nmediabatch init spring --example quickstart');
      const asOwner = (lines: string) => done(`export MEDIABATCH_ENGINE=postgres://owner@db.example/media\n${lines}`);
      const sql = (statement: string) => asOwner(`psql "$MEDIABATCH_ENGINE" -c '${statement}'`);
      const apply = () => type('mediabatch apply --store ../store --yes', 'spring');
      /** Types a command that has to fail with this exit code and message. */
      const fails = async (command: string, exit: number, says: string) => {
        const typed = type(command);
        expect(await typed.ended, typed.said()).toBe(exit);
        expect(typed.said()).toContain(says);
      };

      const detached = apply();
      await waitFor(detached, 'no worker of this account runs');
      await detached.interrupt();
      await done('mediabatch cancel campaign.yaml', 'spring');
      const [, shortId] = / ([0-9a-f]{8}) *$/m.exec(await done('mediabatch workers')) ?? [];
      await done(`mediabatch unlock --id ${shortId} --force`, 'spring');
      expect(await bought()).toEqual([]);

      const drained = type(`${read('sh', 'terminal worker')} --drain`);
      const campaign = apply();
      await waitFor(drained, 'leader of the account');
      await drained.interrupt();
      expect(await drained.ended, drained.said()).toBe(0);
      expect(await campaign.ended, campaign.said()).toBe(0);
      expect(await bought()).toHaveLength(15);

      // The tables of the previous version.
      await sql('ALTER TABLE mediabatch.run DROP COLUMN paused; UPDATE mediabatch.meta SET version = 1');
      await done(read('sh', 'terminal backup'));
      await fails('mediabatch workers', 65, 'an older mediabatch made the tables');
      await fails(read('sh', 'terminal worker'), 77, 'engine migrate');
      expect(await asOwner('mediabatch engine migrate --grant media')).toContain('from version 1 to 2');
      const upgraded = worker();
      expect(await done(read('sh', 'terminal again'), 'spring')).toContain('40 spent (4 now)');
      await upgraded.interrupt();
      expect(await bought()).toHaveLength(17);

      // The way back, and a machine that was not updated.
      await done(read('sh', 'terminal restore'));
      await fails('mediabatch workers', 65, 'an older mediabatch made the tables');
      await sql('UPDATE mediabatch.meta SET version = 9');
      await fails(read('sh', 'terminal worker'), 65, 'a newer mediabatch made the tables');
    },
    300_000,
  );
});

describe('engine examples', () => {
  const read = (name: string) => readFileSync(join(root, 'examples/engine', name), 'utf8');
  const compose = parse(read('compose.yaml'));
  const [deployment, disruption] = parseAllDocuments(read('kubernetes.yaml')).map((one) => one.toJS());
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  const unit = read('mediabatch-worker@.service');
  const [, , ...ofUnit] = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.replaceAll('%i', '1').split(' ').map(String) ?? [];

  const commands: [string, string[]][] = [
    ['compose.yaml', compose.services.worker.command],
    ['kubernetes.yaml', container.args],
    ['mediabatch-worker@.service', ['worker', ...ofUnit]],
  ];

  test('related parts use one name, port and version', () => {
    const labels = { app: 'mediabatch-worker' };
    expect([deployment.apiVersion, deployment.kind]).toEqual(['apps/v1', 'Deployment']);
    expect(deployment.spec.selector.matchLabels).toEqual(labels);
    expect(deployment.spec.template.metadata.labels).toEqual(labels);
    expect([disruption.apiVersion, disruption.kind]).toEqual(['policy/v1', 'PodDisruptionBudget']);
    expect(disruption.spec.selector.matchLabels).toEqual(labels);
    expect(deployment.spec.replicas).toBeGreaterThan(disruption.spec.minAvailable);
    const ports = [container.args, compose.services.worker.command].map((words) => words[words.indexOf('--port') + 1]);
    expect(new Set([...ports, String(container.ports[0].containerPort)])).toEqual(new Set(['9102']));
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: container.ports[0].name });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: container.ports[0].name });
    expect(Object.keys(compose.services.worker.depends_on)).toEqual(['database']);
    // A container waits for paid answers.
    expect([compose.services.worker.stop_grace_period, pod.terminationGracePeriodSeconds]).toEqual(['150s', 150]);
    expect(unit).toContain('TimeoutStopSec=150\n');
    const { version, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const installed = read('Dockerfile').match(/[a-z0-9-]+@[\d.]+/g) ?? [];
    const wanted = ['pg', 'pg-boss', 'aws4fetch'].map((name) => `${name}@${peerDependencies[name]}`);
    expect(installed).toEqual([`mediabatch@${version}`, ...wanted]);
  });

  /** What a unit or a container runs, with a store and a port of this machine. */
  function here(words: readonly string[], store: string): string {
    const own = words.map((word, index) => {
      if (words[index - 1] === '--store') return store;
      return words[index - 1] === '--port' ? '0' : word;
    });
    return own.map((word) => `'${word}'`).join(' ');
  }

  test.each(commands)('the command of %s works on a database, is ready, and ends on SIGTERM', async (_name, words) => {
    const path = makeFolder();
    const store = join(path, 'store');
    mkdirSync(store);
    await openStore(store, { makes: true });
    const names = read('worker.env.example').match(/^\w+/gm) ?? [];
    const values: { [name: string]: string } = {
      MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1',
      MEDIABATCH_API_KEY: 'booking_live_one',
    };
    const worker = typeInto(path, `mediabatch ${here(words, store)}`, {
      MEDIABATCH_ENGINE: await freshDatabase(),
      ...Object.fromEntries(names.map((name) => [name, values[name]])),
    });
    const told = () =>
      worker
        .said()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    await vi.waitFor(() => expect(told().map(({ event }) => event)).toEqual(['listening', 'started']), 60_000);
    const [{ port }] = told();
    for (const place of ['healthz', 'readyz']) {
      expect((await fetch(`http://127.0.0.1:${port}/${place}`)).status, place).toBe(200);
    }
    await worker.interrupt('SIGTERM');
    expect(told().at(-1)).toMatchObject({ event: 'ending', because: 'SIGTERM' });
  });
});
