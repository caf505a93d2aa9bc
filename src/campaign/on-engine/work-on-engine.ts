import { systemClock } from '../../contract/clock.ts';
import type { WorkerNews } from '../../contract/engine-state.ts';
import type { SpendingLimits } from '../../contract/spending.ts';
import { type Access, accountDigest } from '../environment.ts';

export interface WorkOnEngineOptions {
  engine: string;
  access: Access;
  store: string | undefined;
  /** Files that are saved at once. */
  files: number;
  /** Port on which metrics and health of this worker are served. */
  port: { port: number; host: string } | undefined;
  /** Spending limits of this worker, for all campaigns together. */
  limits?: SpendingLimits | undefined;
  /** Ended runs of the account are removed after this time, in ms. */
  keepMs?: number | undefined;
  exitWhenIdle: boolean;
  /** Aborted when the worker has to end as soon as its account has no open run. */
  drain?: AbortSignal | undefined;
  version: string;
  /** Aborted when the worker has to hand over and end. Its reason is reported. */
  signal: AbortSignal;
  tell(news: WorkerNews): void;
  /** Receives the number of steps of a run before they are read. */
  onSize(known: { steps: number }): void;
}

/** Works on the runs of an engine until its signal is aborted. */
export async function workOnEngine(options: WorkOnEngineOptions): Promise<void> {
  const { startWorker } = await import('../../cluster/worker/start-worker.ts');
  const { access } = options;
  const accountOf = (send: string) => accountDigest(send, false, access);
  await startWorker({ ...options, accountOf, clock: systemClock });
}
