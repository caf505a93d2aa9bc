import { readFileSync } from 'node:fs';
import { readEnvironment, requireAccess } from '../../campaign/environment.ts';
import { requireEngine } from '../../campaign/on-engine/engine-address.ts';
import { workOnEngine } from '../../campaign/on-engine/work-on-engine.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { WorkerNews } from '../../contract/worker.ts';
import { workerLine } from '../../report/worker-text.ts';
import { fitHeap } from '../fit-heap.ts';
import { listenForInterruption } from '../signals.ts';
import type { Terminal } from '../terminal.ts';

export interface WorkerCommandOptions {
  engine?: string;
  store?: string;
  files: number;
  exitWhenIdle?: boolean;
}

/** Works until it is ended, or until nothing is left to do. */
export async function worker(options: WorkerCommandOptions, terminal: Terminal): Promise<number> {
  const { env } = process;
  const engine = requireEngine(options.engine, env);
  const access = requireAccess(readEnvironment(env, process.cwd()), { rehearses: false });
  const tell = (news: WorkerNews) => terminal.err(workerLine(news, { style: terminal.style, now: systemClock.now() }));
  const interruption = listenForInterruption(() => {}, { endsWithStarter: true });
  const working = workOnEngine({
    engine,
    access,
    sandbox: env.MEDIABATCH_SANDBOX_FOLDER,
    store: options.store,
    files: options.files,
    exitWhenIdle: options.exitWhenIdle === true,
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
