import { readFileSync } from 'node:fs';
import { readEnvironment, readLimits, requireAccess } from '../../campaign/environment.ts';
import { requireEngine, workOnEngine } from '../../campaign/on-engine/engine-run.ts';
import { systemClock } from '../../contract/clock.ts';
import type { WorkerNews } from '../../contract/engine-state.ts';
import { exitCodes } from '../../contract/exit.ts';
import { workerJsonLine, workerLine } from '../../report/worker-text.ts';
import { fitHeap } from '../fit-heap.ts';
import { listenForInterruption } from '../signals.ts';
import type { Terminal } from '../terminal.ts';

interface WorkerCommandOptions {
  engine?: string;
  store?: string;
  files: number;
  exitWhenIdle?: boolean;
  /** Time in ms after which ended runs are removed. */
  keep?: number;
  drain?: boolean;
  limit?: string;
  port?: number;
  host: string;
  log: 'text' | 'json';
}

export async function worker(options: WorkerCommandOptions, terminal: Terminal): Promise<number> {
  const { env } = process;
  const engine = requireEngine(options.engine, env);
  const environment = readEnvironment(env, process.cwd());
  const access = requireAccess(environment, { rehearses: false });
  const line = options.log === 'json' ? workerJsonLine : workerLine;
  const tell = (news: WorkerNews) => terminal.err(line(news, { style: terminal.style, now: systemClock.now() }));
  const drain = options.drain === true ? new AbortController() : undefined;
  const interruption = listenForInterruption(() => {}, { drain });
  const working = workOnEngine({
    engine,
    access,
    store: options.store,
    files: options.files,
    port: options.port === undefined ? undefined : { port: options.port, host: options.host },
    keepMs: options.keep,
    limits: readLimits(options.limit, '--limit') ?? environment.limits,
    exitWhenIdle: options.exitWhenIdle === true,
    drain: drain?.signal,
    version: ownVersion(),
    signal: interruption.signal,
    tell,
    onSize: fitHeap,
  }).then(() => exitCodes.done);
  try {
    return await Promise.race([working, interruption.secondSignal.then(() => exitCodes.interrupted)]);
  } finally {
    interruption.stop();
  }
}

function ownVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
