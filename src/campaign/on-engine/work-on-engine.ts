import type { TellEnd } from '../../cluster/worker/end-teller.ts';
import { systemClock } from '../../contract/clock.ts';
import type { WorkerNews } from '../../contract/engine-state.ts';
import type { SpendingLimits } from '../../contract/spending.ts';
import { notificationJson, reasonToNotify } from '../../report/run/notification.ts';
import { type Access, accountDigest } from '../environment.ts';

export interface WorkOnEngineOptions {
  /** Address of the database. */
  engine: string;
  access: Access;
  /** As a person named it. */
  store: string | undefined;
  /** Files at once. */
  files: number;
  /** Where figures and health of this worker are served. */
  port: { port: number; host: string } | undefined;
  /** Spending limits of this worker, for all campaigns together. */
  limits?: SpendingLimits | undefined;
  /** Where somebody is told how runs end. */
  notify?: string | undefined;
  /** Ended runs of the account go after this time, in ms. */
  keepMs?: number | undefined;
  exitWhenIdle: boolean;
  /** Aborted: end as soon as no run of the account is open. */
  drain?: AbortSignal | undefined;
  version: string;
  /** Aborted: hand over and end. Its reason is told. */
  signal: AbortSignal;
  tell(news: WorkerNews): void;
  /** Hears how many steps a run has before they are read. */
  onSize(known: { steps: number }): void;
}

/** Works on the runs of an engine until it is told to end. */
export async function workOnEngine(options: WorkOnEngineOptions): Promise<void> {
  const { startWorker } = await import('../../cluster/worker/start-worker.ts');
  const { access } = options;
  const accountOf = (send: string) => accountDigest(send, false, access);
  const tellEnd = options.notify === undefined ? undefined : tellerAt(options.notify);
  await startWorker({ ...options, accountOf, tellEnd, clock: systemClock });
}

/** Says at an address how a run has ended. One that a person ended is no news. */
function tellerAt(address: string): TellEnd {
  return async ({ campaign, exit, end }) => {
    const reason = reasonToNotify(exit);
    if (reason === undefined) return;
    const { createNotifier } = await import('../../service/notifier.ts');
    const notifier = createNotifier({ address, clock: systemClock });
    const sent = await notifier.send(JSON.stringify(notificationJson({ campaign, exit, end, sandbox: false }, reason)));
    if (sent.is === 'unsent') throw new Error(sent.why);
  };
}
