import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WorkerNews } from '../../contract/engine-state.ts';
import { CampaignError } from '../../contract/failure.ts';
import { messageOf } from '../../ground/values.ts';
import type { Database } from '../database/database.ts';
import { readEngineState } from '../engine-state.ts';

export interface OperatorPort {
  port: number;
  note(news: WorkerNews): void;
  watch(worker: Watched): void;
  close(): Promise<void>;
}

interface Watched {
  db: Database;
  account: string;
}

/**
 * Serves `/healthz` (the process is alive) and `/readyz` (the database answers, and workers can execute all open runs of
 * the account). Throws MB3303 if the port is taken.
 */
export async function openOperatorPort({ port, host }: { port: number; host: string }): Promise<OperatorPort> {
  let watched: Watched | undefined;
  let notReady: string | undefined = 'it has not begun yet';
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (request.method !== 'GET') return answer(response, 405, 'GET only');
    if (pathname === '/healthz') return answer(response, 200, 'it lives');
    if (pathname !== '/readyz') return answer(response, 404, '/healthz, /readyz');
    const readiness = notReady === undefined ? lackOf(watched) : Promise.resolve(notReady);
    void readiness.then(
      (why) => answer(response, why === undefined ? 200 : 503, why ?? 'it works'),
      (error: unknown) => answer(response, 500, messageOf(error)),
    );
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
    },
    watch(worker) {
      watched = worker;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
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

/** Describes an open run of the account for which a suitable worker is missing; undefined if there is none. */
async function lackOf(watched: Watched | undefined): Promise<string | undefined> {
  if (watched === undefined || watched.db.awaySince !== undefined) return undefined;
  const { account, db } = watched;
  const { runs } = await readEngineState(db, { isCounted: false });
  const run = runs.find((one) => one.account === account && one.lacks !== undefined);
  return run && `run ${run.id} of ${run.campaign} lacks a ${run.lacks}`;
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
