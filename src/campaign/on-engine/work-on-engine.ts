import { systemClock } from '../../contract/clock.ts';
import type { WorkerNews } from '../../contract/worker.ts';
import { type Access, accountDigest } from '../environment.ts';

export interface WorkOnEngineOptions {
  /** Address of the database. */
  engine: string;
  access: Access;
  /** Folder of an embedded sandbox, which `access` leads to. */
  sandbox: string | undefined;
  /** As a person named it. */
  store: string | undefined;
  /** Files at once. */
  files: number;
  exitWhenIdle: boolean;
  version: string;
  /** Aborted: hand over and end. Its reason is told. */
  signal: AbortSignal;
  tell(news: WorkerNews): void;
  /** Hears how many steps a run has before they are read. */
  onSize(known: { steps: number }): void;
}

/** Works on the runs of an engine until it is told to end. */
export async function workOnEngine(options: WorkOnEngineOptions): Promise<void> {
  const { startWorker } = await import('../../cluster/start-worker.ts');
  const { access, sandbox } = options;
  const accountOf = (send: string) => accountDigest(send, sandbox !== undefined, access);
  await startWorker({ ...options, accountOf, clock: systemClock });
}
