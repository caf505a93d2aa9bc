import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { exitCodes } from '../contract/exit.ts';

/** Signals within this time of the first one are the same wish: npm, ssh and systemd send several. */
const sameWishMs = 300;

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
 * Listens for signals that end a run. `drain`: aborted by the first signal, before all others count.
 */
export function listenForInterruption(
  onFirst: () => void = () => {},
  { drain }: { drain?: AbortController | undefined } = {},
): Interruption {
  const controller = new AbortController();
  // Every sleep and every request listens; their number is that of the jobs, not a leak.
  setMaxListeners(0, controller.signal);
  const second = withResolvers();
  let presses = 0;
  let firstAt: number | undefined;
  const interrupt = (name: string) => {
    const now = performance.now();
    if (firstAt !== undefined && now - firstAt < sameWishMs) return;
    firstAt ??= now;
    if (drain?.signal.aborted === false) return drain.abort(name);
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
  const stopWatching = watchForOrphaning(() => {
    if (!controller.signal.aborted) interrupt('SIGTERM (the parent process is gone)');
  });
  return {
    signal: controller.signal,
    secondSignal: second.promise,
    stop: stopWatching,
  };
}

function withResolvers(): { promise: Promise<void>; resolve(): void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** How often to look whether the parent is gone: npm dies without passing SIGTERM on. */
const lookEveryMs = 1000;

/**
 * Calls back once when npm, which started this command, is gone. npm starts a shell, and not every shell makes room for
 * the command: where one stands in between, it is the shell's parent that counts. Started by anything else, a command
 * may outlive its parent (`nohup`, `disown`). Never keeps the process alive; the returned function ends the watch.
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

/** Undefined where the system has no /proc. */
function parentOf(pid: number): number | undefined {
  // The name in brackets may hold spaces and brackets itself; state and parent follow the last one.
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
 * Errors that nobody awaits, such as one that a library throws at an event of a socket. They end the process from below,
 * with a stack; a run has paid for things, so it ends as runs end: what is on the wire is awaited, everything is recorded.
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
      // Those after the first one mostly follow from it, and must not talk it down.
      if (stray.seen === undefined) process.off('uncaughtException', onError);
    },
  };
  // A rejection that nobody handles comes here, too.
  process.on('uncaughtException', onError); // I26
  return stray;
}

interface StrayErrors {
  /** Resolves at the first one. */
  first: Promise<void>;
  seen?: { error: unknown };
  stop(): void;
}

/** For all that is not a run, which has a listener of its own. */
export function endAtStrayErrors(end: (error: unknown) => void): void {
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') === 1) end(error);
  });
}
