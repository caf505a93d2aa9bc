import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openStore } from '../../src/cluster/store/store.ts';
import { Processes, type Running, until } from '../cluster/rig/processes.ts';
import { Server } from '../cluster/rig/server.ts';
import { logNormal, seeded } from '../rig/random.ts';
import { makeFolder, removeFolder } from './folders.ts';
import type { Goal } from './goals.ts';
import { writeCampaign } from './inputs.ts';
import { bin, median, peakMiBOf } from './measure.ts';
import { table } from './print.ts';
import { startStub } from './service.ts';
import { type BenchStep, independent } from './steps.ts';

/** The same campaign in one process, on an engine whose leader fetches files itself, and on one whose fetch workers do (Linux). */
type How = 'local' | 'leader fetches' | 'workers fetch';

interface Measured {
  wallMs: number;
  /** Of all Node processes, from the start of the command to its end. */
  nodeMs: number;
  postgresMs: number;
  leaderMiB: number;
  readsPerStep: number;
}

interface Shape {
  name: string;
  steps: BenchStep[];
  concurrency: number;
}

const shapes: Shape[] = [
  { name: '2,000 steps of 0 s', steps: independent(2000, () => 0), concurrency: 200 },
  {
    name: '500 jobs log-normal around 3 s',
    steps: independent(500, logNormal(3000, 0.5, seeded(7))),
    concurrency: 100,
  },
];
const hows: How[] = ['local', 'leader fetches', 'workers fetch'];
const fetchWorkers = 3;
/** Of one second, Linux counts so many. */
const ticks = 100;

/** Measures in turn, so that what is compared ran side by side; prints a table, and gives the goals. */
export async function benchCluster(options: {
  repetitions: number;
  notify(message: string): void;
  print(text: string): void;
}): Promise<Goal[]> {
  const goals: Goal[] = [];
  for (const shape of shapes) {
    const runs = new Map<How, Measured[]>(hows.map((how) => [how, []]));
    for (let repetition = 0; repetition < options.repetitions; repetition += 1) {
      for (const how of hows) {
        const measured = await runOnce(shape, how);
        runs.get(how)?.push(measured);
        options.notify(`cluster, ${shape.name}, ${how}: ${(measured.wallMs / 1000).toFixed(2)} s`);
      }
    }
    options.print(tableOf(shape, runs));
    goals.push(...goalsOf(shape, runs));
  }
  return [...goals, ...(await measureIdle())];
}

interface Place {
  folder: string;
  processes: Processes;
  server: Server | undefined;
  env: NodeJS.ProcessEnv;
}

async function withPlace<Answer>(
  { engine, steps }: { engine: boolean; steps: BenchStep[] },
  act: (place: Place, stats: () => Promise<{ polls: number; listReads: number }>) => Promise<Answer>,
): Promise<Answer> {
  const folder = makeFolder();
  const processes = new Processes(folder);
  const stub = await startStub({ durationsMs: steps.map(({ durationMs }) => durationMs) });
  try {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    const server = engine ? await Server.make(shared, folder, { processes }) : undefined;
    const env = {
      ...process.env,
      ...stub.env,
      NO_COLOR: '1',
      ...(server !== undefined && { MEDIABATCH_ENGINE: server.url }),
    };
    return await act({ folder, processes, server, env }, stub.stats);
  } finally {
    await processes.end();
    stub.stop();
    removeFolder(folder, steps.length);
  }
}

function runOnce({ steps, concurrency }: Shape, how: How): Promise<Measured> {
  return withPlace({ engine: how !== 'local', steps }, async ({ folder, processes, server, env }, stats) => {
    const home = join(folder, 'home');
    const store = join(folder, 'store');
    mkdirSync(store);
    await openStore(store, { makes: true });
    writeCampaign(home, steps, { kind: 'image', concurrency });
    const files = how === 'workers fetch' ? '8' : '64';
    const words = [process.execPath, bin, 'worker', '--store', store, '--files', files];
    const count = how === 'local' ? 0 : how === 'workers fetch' ? fetchWorkers : 1;
    const started = Array.from({ length: count }, () => processes.start('worker', words, { cwd: folder, env }));
    for (const one of started) await works(one);
    const postgresBefore = server === undefined ? 0 : postgresMsOf(processes);
    const before = started.map(({ pid }) => cpuMsOf([pid]));
    const startedAt = performance.now();
    const to = how === 'local' ? [] : ['--store', store];
    const apply = processes.start('apply', [process.execPath, bin, 'apply', 'campaign.yaml', '--yes', ...to], {
      cwd: home,
      env,
    });
    let applyMs = 0;
    const timer = setInterval(() => {
      applyMs = Math.max(applyMs, cpuMsOf([apply.pid]));
    }, 20);
    const { code } = await apply.ended;
    const wallMs = performance.now() - startedAt;
    clearInterval(timer);
    if (code !== 0) throw new Error(`apply ended with ${code}: ${apply.err().slice(-1000)}`);
    const workersMs = started.reduce((sum, { pid }, index) => sum + cpuMsOf([pid]) - (before[index] ?? 0), 0);
    const asked = await stats();
    return {
      wallMs,
      nodeMs: applyMs + workersMs,
      postgresMs: server === undefined ? 0 : postgresMsOf(processes) - postgresBefore,
      leaderMiB: Math.max(0, ...started.map(({ pid }) => peakMiBOf(pid))),
      readsPerStep: (asked.polls + asked.listReads) / steps.length,
    };
  });
}

/** What it costs that one worker waits for work, in percent of a core. */
function measureIdle(): Promise<Goal[]> {
  return withPlace({ engine: true, steps: [] }, async ({ folder, processes, env }) => {
    const worker = processes.start('worker', [process.execPath, bin, 'worker'], { cwd: folder, env });
    await works(worker);
    await wait(5000);
    const of = () => [cpuMsOf([worker.pid]), postgresMsOf(processes)] as const;
    const [worker0, postgres0] = of();
    await wait(30_000);
    const [worker1, postgres1] = of();
    const share = (ms: number) => ms / 300;
    return [
      { trial: 'cluster idle', text: 'one worker, % of a core', most: 1, value: share(worker1 - worker0) },
      { trial: 'cluster idle', text: 'Postgres, % of a core', most: 2, value: share(postgres1 - postgres0) },
    ];
  });
}

/** Where the jobs take no time: ratios to the local run, ms of Postgres for a step, and memory. */
function goalsOf({ name, steps }: Shape, runs: ReadonlyMap<How, Measured[]>): Goal[] {
  const ratio = (how: How, pick: (one: Measured) => number) =>
    median((runs.get(how) ?? []).map((one, index) => pick(one) / pick(runs.get('local')?.[index] ?? one)));
  const trial = `cluster, ${name}`;
  if (steps.some(({ durationMs }) => durationMs > 0)) {
    return hows.slice(1).flatMap((how) => [
      { trial, text: `${how}: makespan × local`, most: 1.05, value: ratio(how, ({ wallMs }) => wallMs) },
      {
        trial,
        text: `${how}: reads per job × local`,
        most: 1.05,
        value: ratio(how, ({ readsPerStep }) => readsPerStep),
      },
    ]);
  }
  const middle = (pick: (one: Measured) => number) => median((runs.get('workers fetch') ?? []).map(pick));
  const rows: [text: string, most: number, value: number][] = [
    ['leader fetches: CPU of Node × local', 1.5, ratio('leader fetches', ({ nodeMs }) => nodeMs)],
    ['workers fetch: CPU of Node × local', 1.8, ratio('workers fetch', ({ nodeMs }) => nodeMs)],
    ['workers fetch: ms of Postgres per step', 1.5, middle(({ postgresMs }) => postgresMs / steps.length)],
    ['workers fetch: wall × local', 1.8, ratio('workers fetch', ({ wallMs }) => wallMs)],
    ['workers fetch: leader, MiB', 200, middle(({ leaderMiB }) => leaderMiB)],
  ];
  return rows.map(([text, most, value]) => ({ trial, text, most, value }));
}

function tableOf({ name, steps }: Shape, runs: ReadonlyMap<How, Measured[]>): string {
  const rows = [...runs].map(([how, all]) => {
    const of = (pick: (one: Measured) => number, digits: number) => median(all.map(pick)).toFixed(digits);
    return [
      how,
      of(({ wallMs }) => wallMs / 1000, 2),
      of(({ nodeMs }) => nodeMs / steps.length, 2),
      of(({ postgresMs }) => postgresMs / steps.length, 2),
      of(({ leaderMiB }) => leaderMiB, 0),
      of(({ readsPerStep }) => readsPerStep, 2),
    ];
  });
  const head = ['where', 'wall s', 'CPU of Node, ms a step', 'of Postgres', 'largest worker MiB', 'reads a step'];
  return `cluster: ${name}\n\n${table([head, ...rows])}`;
}

/** User and system time of these, and of their children that have ended, in ms. */
function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (statOf(pid)?.cpuMs ?? 0), 0);
}

function statOf(pid: number): { parent: number; cpuMs: number } | undefined {
  try {
    const [, rest = ''] = /^\d+ \(.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    const fields = rest.split(' ').map(Number);
    const times = fields.slice(11, 15);
    return { parent: fields[1] ?? 0, cpuMs: (times.reduce((sum, time) => sum + time, 0) * 1000) / ticks };
  } catch {
    return undefined;
  }
}

/** A Postgres writes its title over its environment, so that its processes are told by their parent. */
function postgresMsOf(processes: Processes): number {
  const [postmaster] = processes.all.filter(({ name, isRunning }) => name === 'postgres' && isRunning());
  if (postmaster === undefined) return 0;
  const all = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statOf(pid)?.parent === postmaster.pid);
  return cpuMsOf([postmaster.pid, ...all]);
}

const works = (worker: Running) => until('a worker works', () => /works on/.test(worker.err()));
