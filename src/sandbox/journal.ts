import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Lines, openLines } from './lines.ts';

/**
 * State on disk, in append-only files: `ledger.jsonl` (one line per accepted create request), `deleted.jsonl`,
 * `synced.jsonl` (status updates with their times), `balances.jsonl` (balances that were set) and `uploads.jsonl`. A
 * line is written synchronously before its answer is sent, so every received answer is also in the file, even after a
 * crash.
 */
export interface Journal {
  readonly ledger: Lines;
  readonly deleted: Lines;
  readonly synced: Lines;
  readonly balances: Lines;
  readonly uploads: Lines;
  close(): void;
}

const openHere = new Set<string>();

/** Throws if another sandbox uses the folder, or if a complete line of a file is damaged. */
export function openJournal(path: string): Journal {
  const folder = resolve(path);
  mkdirSync(folder, { recursive: true });
  const pidFile = join(folder, 'sandbox.pid');
  claim(folder, pidFile);
  const opened: Lines[] = [];
  const close = () => {
    for (const lines of opened) lines.close();
    release(folder, pidFile);
  };
  const open = (name: string) => {
    const lines = openLines(join(folder, name));
    opened.push(lines);
    return lines;
  };
  try {
    return {
      ledger: open('ledger.jsonl'),
      deleted: open('deleted.jsonl'),
      synced: open('synced.jsonl'),
      balances: open('balances.jsonl'),
      uploads: open('uploads.jsonl'),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

function claim(folder: string, pidFile: string): void {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      writeFileSync(pidFile, `${process.pid}\n`, { flag: 'wx' });
      openHere.add(folder);
      return;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    const holder = readHolder(pidFile);
    if (holder !== undefined && isHeld(folder, holder)) {
      const message = `the sandbox folder ${folder} is in use by the process ${holder} (${pidFile})`;
      throw Object.assign(new Error(message), { code: 'EBUSY' });
    }
    rmSync(pidFile, { force: true });
  }
  throw new Error(`the sandbox folder ${folder} could not be claimed; another sandbox is starting in it`);
}

function release(folder: string, pidFile: string): void {
  openHere.delete(folder);
  rmSync(pidFile, { force: true });
}

function readHolder(pidFile: string): number | undefined {
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').trim()) : Number.NaN;
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

function isHeld(folder: string, pid: number): boolean {
  if (pid === process.pid) return openHere.has(folder);
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/**
 * Returns whether a process has ended and its parent has not reaped it yet. Such a process still accepts signals. Linux
 * only.
 */
function isZombie(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && /\) Z /.test(readFileSync(path, 'utf8'));
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
