import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { exitCodes } from '../contract/exit.ts';

/** Time in ms within which several signals count as one, because npm, ssh and systemd repeat a Ctrl-C. */
const sameSignalMs = 300;

interface Interruption {
  /** Aborted by the first signal, with its name as the reason. The run then sends no more create requests. */
  signal: AbortSignal;
  firstSignal: Promise<void>;
  /** Resolves at the second signal. The process then ends at once. Requests in flight stay recorded as sent. */
  secondSignal: Promise<void>;
  /** Stops the checks whether the parent process still exists. Signals are still handled. */
  stop(): void;
}

/** Listens for signals that end a run. With `drain`, the first signal only aborts `drain`. */
export function listenForInterruption(
  onFirst: () => void = () => {},
  { drain }: { drain?: AbortController | undefined } = {},
): Interruption {
  const controller = new AbortController();
  // Each sleep and each request adds a listener, so many listeners are not a leak.
  setMaxListeners(0, controller.signal);
  let endNow: () => void = () => {};
  const secondSignal = new Promise<void>((resolve) => {
    endNow = resolve;
  });
  let presses = 0;
  let firstAt: number | undefined;
  const interrupt = (name: string) => {
    const now = performance.now();
    if (firstAt !== undefined && now - firstAt < sameSignalMs) return;
    firstAt ??= now;
    if (drain?.signal.aborted === false) return drain.abort(name);
    presses += 1;
    if (presses > 2) process.exit(exitCodes.interrupted);
    if (controller.signal.aborted) return endNow();
    controller.abort(name);
    onFirst();
  };
  // On Windows, closing the window sends SIGHUP, and Ctrl-Break sends SIGBREAK.
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, () => interrupt(name));
  if (process.platform === 'win32') process.on('SIGBREAK', () => interrupt('SIGBREAK'));
  const stopWatching = watchForOrphaning(() => {
    if (!controller.signal.aborted) interrupt('SIGTERM (the parent process is gone)');
  });
  const { signal } = controller;
  const firstSignal = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  return { signal, firstSignal, secondSignal, stop: stopWatching };
}

/** Interval in ms between checks whether the parent process exists, because npm ends without forwarding SIGTERM. */
const pollMs = 1000;

/** Calls `onOrphaned` once if npm started this command and npm has ended. Returns a function that stops the check. */
function watchForOrphaning(onOrphaned: () => void): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const parent = process.ppid;
  const grandparent = isShell(parent) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent && (grandparent === undefined || parentOf(parent) === grandparent)) return;
    clearInterval(timer);
    onOrphaned();
  }, pollMs);
  timer.unref();
  return () => clearInterval(timer);
}

function isShell(pid: number): boolean {
  return /^(ba|da|k|z|a)?sh$/.test(readProc(pid, 'comm')?.trim() ?? '');
}

function parentOf(pid: number): number | undefined {
  // The name in `/proc/PID/stat` may contain brackets, so the other fields are read after the last bracket.
  const fields = readProc(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');
  return fields?.[1] === undefined ? undefined : Number(fields[1]);
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Listens for unhandled errors, which would otherwise end the process before paid jobs are recorded. */
export function listenForUnhandledErrors(): UnhandledErrors {
  let onError: (error: unknown) => void = () => {};
  const stray: UnhandledErrors = {
    first: new Promise<void>((resolve) => {
      onError = (error) => {
        stray.seen ??= { error };
        resolve();
      };
    }),
    stop() {
      // Later errors mostly follow from the first one and must not replace it.
      if (stray.seen === undefined) process.off('uncaughtException', onError);
    },
  };
  // Unhandled rejections are reported by this event, too.
  process.on('uncaughtException', onError); // I26
  return stray;
}

interface UnhandledErrors {
  first: Promise<void>;
  seen?: { error: unknown };
  stop(): void;
}

export function endAtUnhandledErrors(end: (error: unknown) => void): void {
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') === 1) end(error);
  });
}
