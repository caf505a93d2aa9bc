import { type ChildProcess, spawn } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Boss, openBoss } from '../../src/cluster/database/boss.ts';
import { type Database, openDatabase } from '../../src/cluster/database/database.ts';
import { migrate } from '../../src/cluster/database/schema.ts';
import { FileDispatcher, type OwnHand } from '../../src/cluster/head/file-dispatcher.ts';
import { submitRun } from '../../src/cluster/runs/runs.ts';
import { makeSeal } from '../../src/cluster/seal.ts';
import { openStore } from '../../src/cluster/store/store.ts';
import { serveFiles } from '../../src/cluster/worker/serve-files.ts';
import { Slots } from '../../src/cluster/worker/slots.ts';
import { systemClock } from '../../src/contract/clock.ts';
import { createDownloader } from '../../src/service/download.ts';
import { startPostgres } from '../rig/postgres-server.ts';
import { submission } from '../rooms/cluster/submission.ts';

/**
 * What hands bring, and what they cost: large files over one hand and over three, each with a line of its own, and small ones
 * by hands and by the head itself. Prints figures; ends with 1 when a goal is missed. `npx tsx test/bench/hands.ts [MIB]`.
 */
const files = 64;
const mib = Number(process.argv[2] ?? 64);
const small = 2000;
/** Bytes per second of a line. */
const line = 20_000_000;
const goal = 2.5;
const token = 'bench_live_key';
const account = 'a'.repeat(32);
const folder = mkdtempSync(join(tmpdir(), 'mediabatch-hands-'));
const children: ChildProcess[] = [];

/** Zeros between the head and the end of a PNG. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);

/** Time at which a line is free again, by address. */
const freeAt = new Map<string, number>();

async function sendLarge(response: ServerResponse, from: string): Promise<void> {
  const piece = 262_144;
  const zeros = Buffer.alloc(piece);
  const pieces = (mib * 1024 * 1024) / piece;
  response.writeHead(200, { 'content-type': 'image/png', 'content-length': pixel.length + pieces * piece });
  response.write(pixel.subarray(0, 33));
  for (let sent = 0; sent < pieces && !response.destroyed; sent += 1) {
    const at = Math.max(performance.now(), freeAt.get(from) ?? 0);
    freeAt.set(from, at + (piece / line) * 1000);
    const wait = at - performance.now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    if (!response.write(zeros)) await drained(response);
  }
  response.end(pixel.subarray(33));
}

async function drained(response: ServerResponse): Promise<void> {
  const either = new AbortController();
  const { signal } = either;
  await Promise.race(['drain', 'close'].map((event) => once(response, event, { signal }).catch(() => {})));
  either.abort();
}

const server = createServer((request, response) => {
  if (request.url?.startsWith('/large')) void sendLarge(response, request.socket.remoteAddress ?? '');
  else response.writeHead(200, { 'content-type': 'image/png', 'content-length': pixel.length }).end(pixel);
});

async function main(): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const postgres = await startPostgres(join(folder, 'postgres'));
  const db = await openDatabase(postgres.url, { name: 'bench' });
  await migrate(db);
  const boss = await openBoss(db);
  mkdirSync(join(folder, 'store'));
  const store = await openStore(join(folder, 'store'), { makes: true });
  const bench = { db, boss, origin, store: store.id, url: postgres.url };
  try {
    await measureLarge(bench);
    const slots = new Slots(8);
    const redact = (text: string) => text;
    const downloads = createDownloader({ baseUrl: `${origin}/api/v1`, redact, requestTimeoutMs: 30_000 });
    const files = store.filesOf('own');
    const own = { store: store.id, slots, downloads, filesOf: () => files };
    const end = new AbortController();
    const hand = { db, boss, account, seal: makeSeal(token), clock: systemClock, worker: 'head', place: store.id };
    const served = serveFiles({ ...hand, ...own, signal: end.signal });
    await measureSmall('the head itself', bench, own);
    end.abort();
    await served;
    await downloads.close();
    await startHands(bench, 1);
    await measureSmall('one hand', bench);
    await startHands(bench, 2);
    await measureSmall('three hands', bench);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await boss.stop({ graceful: false });
    await db.close();
    await postgres.stop();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Bench {
  db: Database;
  boss: Boss;
  origin: string;
  store: string;
  url: string;
}

async function measureLarge(bench: Bench): Promise<void> {
  const times: number[] = [];
  for (const hands of [1, 3]) {
    const pids = await startHands(bench, hands);
    const { ms } = await fetchAll(bench, { count: files, what: 'large' });
    times.push(ms);
    print(`${files} files of ${mib} MiB, ${hands === 1 ? 'one hand' : 'three hands'}: ${(ms / 1000).toFixed(1)} s`);
    await stopHands(pids);
  }
  const ratio = (times[0] ?? 0) / (times[1] ?? 1);
  if (ratio < goal) process.exitCode = 1;
  print(`three hands are ${ratio.toFixed(2)} times as fast as one${ratio < goal ? ` (missed: ${goal})` : ''}`);
}

async function measureSmall(who: string, bench: Bench, own?: OwnHand): Promise<void> {
  // Once before, so that everything is open.
  await fetchAll(bench, { count: 100, what: 'small', own });
  const { ms, cpuMs } = await fetchAll(bench, { count: small, what: 'small', own });
  print(
    `${small} small files, ${who}: ${(ms / small).toFixed(2)} ms each, ${(cpuMs / small).toFixed(2)} ms of the head's CPU`,
  );
}

async function fetchAll(
  { db, boss, origin, store }: Bench,
  { count, what, own }: { count: number; what: string; own?: OwnHand | undefined },
): Promise<{ ms: number; cpuMs: number }> {
  const { id } = await submitRun(db, boss, submission({ account, store, campaign: `${what} ${Math.random()}` }));
  await db.query('UPDATE mediabatch.account SET epoch = 1');
  const dispatcher = new FileDispatcher({ db, boss, account, epoch: 1, seal: makeSeal(token) });
  const outputs = dispatcher.outputsOf({ id, campaign: 'bench', store }, own);
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const cpu = process.cpuUsage();
  const since = performance.now();
  const all = Array.from({ length: count }, (_, index) => {
    const target = {
      address: `p@${index}`,
      save: `${id}/${index}`,
      media: 'image' as const,
      replaces: [],
      notice: print,
    };
    return outputs.fetch(target, { jobId: `j${index}`, index: 0, url: `${origin}/${what}/${index}.png` }, { signal });
  });
  const bad = (await Promise.all(all)).find(({ is }) => is !== 'saved');
  if (bad !== undefined) throw new Error(`a file did not come: ${JSON.stringify(bad)}`);
  const ms = performance.now() - since;
  const { user, system } = process.cpuUsage(cpu);
  await dispatcher.close();
  for (const name of readdirSync(join(folder, 'store'))) {
    if (name !== '.mediabatch') rmSync(join(folder, 'store', name), { recursive: true });
  }
  return { ms, cpuMs: (user + system) / 1000 };
}

/** Each has an address of its own, and so a line of its own. */
async function startHands({ origin, url }: Bench, count: number): Promise<ChildProcess[]> {
  const preload = new URL('../cluster/rig/from-address.mjs', import.meta.url).href;
  const started = Array.from({ length: count }, () => {
    const env = {
      ...process.env,
      MEDIABATCH_BASE_URL: `${origin}/api/v1`,
      MEDIABATCH_TEST_FROM: `127.0.0.${children.length + 2}`,
      BENCH_HAND: JSON.stringify({ url, account, token, store: join(folder, 'store') }),
    };
    const script = fileURLToPath(new URL('hand.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', '--import', preload, script], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  });
  for (const child of started) await once(child.stdout ?? child, 'data');
  return started;
}

async function stopHands(started: readonly ChildProcess[]): Promise<void> {
  for (const child of started) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

await main();
