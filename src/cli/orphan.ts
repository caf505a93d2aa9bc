import { readFileSync } from 'node:fs';

/** How often to look whether the parent is gone: npm dies without passing SIGTERM on. */
const lookEveryMs = 1000;

/**
 * Calls back once when npm, which started this command, is gone. npm starts a shell, and not every shell makes room for
 * the command: where one stands in between, it is the shell's parent that counts. Started by anything else, a command
 * may outlive its parent (`nohup`, `disown`). Never keeps the process alive; the returned function ends the watch.
 */
export function watchForOrphaning(onOrphaned: () => void): () => void {
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
