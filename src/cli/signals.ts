import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { exitCodes } from '../contract/exit.ts';

/** Signals within this time of the first one count as one, because npm, ssh and systemd send several. In ms. */
const sameWishMs = 300;

interface Interruption {
  /**
   * Aborted by the first signal; the reason is its name. Nothing more is bought, requests in flight are awaited,
   * everything is recorded.
   */
  signal: AbortSignal;
  firstSignal: Promise<void>;
  /**
   * Resolves at the second signal: the process ends at once, and requests in flight stay on record as sent. A third
   * signal kills the process.
   */
  secondSignal: Promise<void>;
  /** Stops keeping the process alive. Signals are still caught, so that files are closed properly. */
  stop(): void;
}

/**
 * Listens for signals that end a run. `drain`: aborted by the first signal; later signals then count as described in
 * `Interruption`.
 */
export function listenForInterruption(
  onFirst: () => void = () => {},
  { drain }: { drain?: AbortController | undefined } = {},
): Interruption {
  const controller = new AbortController();
  // Each sleep and each request adds a listener, so their number grows with the jobs and is no leak.
  setMaxListeners(0, controller.signal);
  let endNow: () => void = () => {};
  const secondSignal = new Promise<void>((resolve) => {
    endNow = resolve;
  });
  let presses = 0;
  let firstAt: number | undefined;
  const interrupt = (name: string) => {
    const now = performance.now();
    if (firstAt !== undefined && now - firstAt < sameWishMs) return;
    firstAt ??= now;
    if (drain?.signal.aborted === false) return drain.abort(name);
    presses += 1;
    if (presses > 2) process.exit(exitCodes.interrupted);
    if (controller.signal.aborted) return endNow();
    controller.abort(name);
    onFirst();
  };
  // SIGHUP is also a closed window on Windows. SIGBREAK is Ctrl-Break, which only Windows has.
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

/** Polling interval in ms for whether the parent is gone, because npm dies without passing SIGTERM on. */
const lookEveryMs = 1000;

/**
 * Calls back once when npm, which started this command, is gone. npm starts a shell, and some shells stay between npm
 * and the command; then the shell's parent is checked. A command that was not started by npm may outlive its parent
 * (`nohup`, `disown`). Never keeps the process alive; the returned function stops the check.
 */
function watchForOrphaning(onOrphaned: () => void): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const parent = process.ppid;
  const grandparent = isShell(parent) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent && (grandparent === undefined || parentOf(parent) === grandparent)) return;
    clearInterval(timer);
    onOrphaned();
  }, lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

function isShell(pid: number): boolean {
  return /^(ba|da|k|z|a)?sh$/.test(readProc(pid, 'comm')?.trim() ?? '');
}

/** Parent of a process. Undefined on a system without /proc. */
function parentOf(pid: number): number | undefined {
  // The name in brackets may contain spaces and brackets. State and parent follow the last bracket.
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

/**
 * Listens for unhandled errors, such as an exception of a library in a socket event. By default they kill the process
 * with a stack. A run has paid jobs, so it ends properly instead: requests in flight are awaited, everything is
 * recorded.
 */
export function listenForStrayErrors(): StrayErrors {
  let onError: (error: unknown) => void = () => {};
  const stray: StrayErrors = {
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

interface StrayErrors {
  first: Promise<void>;
  seen?: { error: unknown };
  stop(): void;
}

/** Handles unhandled errors outside of a run, which has its own listener. */
export function endAtStrayErrors(end: (error: unknown) => void): void {
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') === 1) end(error);
  });
}
