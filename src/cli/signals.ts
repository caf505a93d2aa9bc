import { setMaxListeners } from 'node:events';
import { exitCodes } from '../contract/exit.ts';
import { watchForOrphaning } from './orphan.ts';

/** The wish of the outside world that a run ends. */
export interface Interruption {
  /** Aborted by the first signal, whose name is its reason: nothing new is paid for, what is on the wire is awaited, everything is recorded. */
  signal: AbortSignal;
  /** Resolves at the second signal: out at once. What is on the wire stays on record as an intent. A third one kills. */
  secondSignal: Promise<void>;
  /** No longer keeps the process. Signals are still met, so that what is being closed is closed. */
  stop(): void;
}

/**
 * Listens for signals that end a run. `endsWithStarter`: whoever started this process with a channel to it takes it
 * along, however they die. What it was using may be gone with them, so it has only so long to leave.
 */
export function listenForInterruption(
  onFirst: () => void = () => {},
  { endsWithStarter = false }: { endsWithStarter?: boolean } = {},
): Interruption {
  const controller = new AbortController();
  // Every sleep and every request listens; their number is that of the jobs, not a leak.
  setMaxListeners(0, controller.signal);
  const second = withResolvers();
  let presses = 0;
  const interrupt = (name: string) => {
    presses += 1;
    if (presses > 2) process.exit(exitCodes.interrupted);
    if (controller.signal.aborted) return second.resolve();
    controller.abort(name);
    onFirst();
  };
  // SIGHUP is a closed window on Windows, too, and SIGBREAK is Ctrl-Break, which only Windows has.
  const signals: NodeJS.Signals[] = [
    'SIGINT',
    'SIGTERM',
    'SIGHUP',
    ...(process.platform === 'win32' ? ['SIGBREAK' as const] : []),
  ];
  for (const name of signals) process.on(name, () => interrupt(name));
  if (endsWithStarter) {
    process.once('disconnect', () => {
      if (!controller.signal.aborted) interrupt('whoever started it is gone');
      setTimeout(second.resolve, orphanLeavesMs).unref();
    });
    process.channel?.unref();
  }
  const stopWatching = watchForOrphaning(() => {
    if (!controller.signal.aborted) interrupt('SIGTERM (the parent process is gone)');
  });
  return {
    signal: controller.signal,
    secondSignal: second.promise,
    stop: stopWatching,
  };
}

/** For what is on the wire. */
const orphanLeavesMs = 10_000;

function withResolvers(): { promise: Promise<void>; resolve(): void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
