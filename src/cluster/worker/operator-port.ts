import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newsName, type WorkerNews } from '../../contract/engine-state.ts';
import { CampaignError } from '../../contract/failure.ts';
import { messageOf } from '../../ground/values.ts';
import type { Database } from '../database/database.ts';
import { readEngineState } from '../engine-state.ts';
import { loadPackage } from '../load-packages.ts';

export interface OperatorPort {
  port: number;
  note(news: WorkerNews): void;
  watch(worker: Watched): void;
  created(): void;
  seen(lagMs: number): void;
  close(): Promise<void>;
}

export interface Watched {
  db: Database;
  account: string;
  facts(): { [name: string]: number };
}

/** Prometheus names and help texts of the leader's gauges, by the names of `HeadOfRuns.facts`. */
const headGauges = {
  runs: ['mediabatch_head_open_runs', 'Open runs that this head drives.'],
  paused: ['mediabatch_head_paused_runs', 'Open runs that are paused.'],
  inFlight: ['mediabatch_head_jobs_in_flight', 'Jobs of the service that are waited for.'],
  creates: ['mediabatch_head_creates_on_wire', 'Creates that were sent and not answered.'],
  files: ['mediabatch_head_files_waiting', 'Files that hands are to fetch.'],
  spent: ['mediabatch_head_credits_spent', 'Credits that the open runs were charged.'],
  held: ['mediabatch_head_credits_held', 'Credits that are reserved, or held for creates without a known outcome.'],
} as const;

/** Number of the account's queued files, and the age of the oldest one in s. */
const waitingFiles = `SELECT count(*)::int AS waiting,
    coalesce(extract(epoch FROM now() - min(created_on)), 0)::float8 AS age
  FROM mediabatch_queue.job WHERE name LIKE 'files-v%-' || $1 || '-%' AND state < 'active'`;

/**
 * Serves `/healthz` (the process is alive), `/readyz` (the database answers, and workers can execute all open runs of
 * the account) and `/metrics` (for Prometheus). Throws MB3303 if the port is taken, and MB3701 if the package is not
 * installed.
 */
export async function openOperatorPort({ port, host }: { port: number; host: string }): Promise<OperatorPort> {
  const figures = await makeFigures();
  let notReady: string | undefined = 'it has not begun yet';
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (request.method !== 'GET') return answer(response, 405, 'GET only');
    if (pathname === '/healthz') return answer(response, 200, 'it lives');
    const failed = (error: unknown) => answer(response, 500, messageOf(error));
    if (pathname === '/readyz') {
      const readiness = notReady === undefined ? figures.lack() : Promise.resolve(notReady);
      void readiness.then((why) => answer(response, why === undefined ? 200 : 503, why ?? 'it works'), failed);
    } else if (pathname === '/metrics') {
      void figures.text().then((text) => answer(response, 200, text, figures.contentType), failed);
    } else answer(response, 404, '/healthz, /readyz, /metrics');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(isTaken(error) ? taken(port, host) : error));
    server.listen(port, host, resolve);
  });
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    note(news) {
      notReady = readinessAfter(news, notReady);
      figures.note(news);
    },
    watch: (worker) => figures.watch(worker),
    created: () => figures.created(),
    seen: (lagMs) => figures.seen(lagMs),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type }).end(text.endsWith('\n') ? text : `${text}\n`);
}

/** Returns why a worker is not ready after an event; undefined if it is ready. */
function readinessAfter(news: WorkerNews, before: string | undefined): string | undefined {
  switch (news.is) {
    case 'started':
    case 'no store':
    case 'server back':
      return undefined;
    case 'server away':
      return `the engine is away: ${news.error}`;
    case 'leaving':
    case 'ending':
      return 'it ends';
    default:
      return before;
  }
}

async function makeFigures() {
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await loadPackage(
    'prom-client',
    () => import('prom-client'),
  );
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const events = new Counter({
    name: 'mediabatch_worker_events_total',
    help: 'News of this worker, by the names of its log; `failed` and `put-aside` are errors.',
    labelNames: ['event'],
    registers,
  });
  const creates = new Counter({
    name: 'mediabatch_creates_total',
    help: 'Creates that this worker has sent as a head, those that were sent again among them.',
    registers,
  });
  const ofRuns = { help: 'Of runs that ended under this worker.', registers };
  const steps = new Counter({ name: 'mediabatch_steps_total', labelNames: ['outcome'], ...ofRuns });
  const credits = new Counter({ name: 'mediabatch_credits_total', ...ofRuns });
  const lag = new Histogram({
    name: 'mediabatch_detection_lag_seconds',
    help: 'How long after its end a job was seen to be over; where the service does not tell when that was, half the time since it was looked at before.',
    buckets: [0.5, 1, 2, 5, 10, 20, 60, 180, 600],
    registers,
  });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const head = gauge('mediabatch_head', '1 while this worker is the head of its account.');
  const away = gauge('mediabatch_database_away', '1 while PostgreSQL does not answer.');
  const connections = gauge('mediabatch_database_connections', 'Connections of this worker to PostgreSQL.');
  const waiting = gauge('mediabatch_files_queued', 'Files of the account that no hand has taken.');
  const age = gauge('mediabatch_files_queued_age_seconds', 'For how long the first of them has waited.');
  const ofHead = Object.entries(headGauges).map(([name, [full, help]]) => [name, gauge(full, help)] as const);
  let watched: Watched | undefined;
  const look = async ({ db, account, facts }: Watched) => {
    const known = facts();
    for (const [name, one] of ofHead) one.set(known[name] ?? 0);
    away.set(db.awaySince === undefined ? 0 : 1);
    connections.set(db.connections);
    // While the server is away, the gauges keep their last values.
    if (db.awaySince !== undefined) return;
    const [row] = await db.query<{ waiting: number; age: number }>(waitingFiles, [account]);
    waiting.set(row?.waiting ?? 0);
    age.set(row?.age ?? 0);
  };
  return {
    contentType: registry.contentType,
    note(news: WorkerNews) {
      events.inc({ event: newsName(news.is) });
      if (news.is === 'head') head.set(1);
      if (news.is === 'head left') head.set(0);
      if (news.is !== 'run ended') return;
      credits.inc(news.credits);
      for (const [outcome, count] of Object.entries(news.outcomes)) steps.inc({ outcome }, count);
    },
    created: () => creates.inc(),
    seen: (lagMs: number) => lag.observe(lagMs / 1000),
    watch(worker: Watched) {
      watched = worker;
      registry.setDefaultLabels({ account: worker.account.slice(0, 8) });
    },
    /** Describes an open run of the account for which a suitable worker is missing; undefined if there is none. */
    async lack(): Promise<string | undefined> {
      if (watched === undefined || watched.db.awaySince !== undefined) return undefined;
      const { account, db } = watched;
      const { runs } = await readEngineState(db, { isCounted: false });
      const run = runs.find((one) => one.account === account && one.lacks !== undefined);
      return run && `run ${run.id} of ${run.campaign} lacks a ${run.lacks}`;
    },
    async text() {
      if (watched !== undefined) await look(watched);
      return registry.metrics();
    },
  };
}

function isTaken(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}

function taken(port: number, host: string): CampaignError {
  return new CampaignError({
    code: 'MB3303',
    message: `port ${port} of ${host} is taken`,
    hint: 'give another one to --port; 0 takes any free port',
    port,
  });
}
