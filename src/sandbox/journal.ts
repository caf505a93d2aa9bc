import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { isObject, type JsonObject } from './wire.ts';

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
  throw new Error(`the sandbox folder ${folder} could not be locked; another sandbox is starting in it`);
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
 * Returns whether a process has ended but its parent has not read the exit code yet. It still accepts signals. Linux
 * only.
 */
function isZombie(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && /\) Z /.test(readFileSync(path, 'utf8'));
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

export interface Lines {
  readonly lines: readonly JsonObject[];
  append(line: JsonObject): void;
  close(): void;
}

function openLines(path: string): Lines {
  // Creates the file if it is missing, so that later appends need no check.
  appendFileSync(path, '');
  const bytes = readFileSync(path);
  const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
  // Removes the partial line that a killed process may leave: its request got no answer.
  if (whole.length < bytes.length) truncateSync(path, whole.length);
  const lines = whole
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .map((line, index) => parseLine(line, `${path}:${index + 1}`));
  const file = openSync(path, 'a');
  let closed = false;
  return {
    lines,
    append(line: JsonObject): void {
      // Throws, because after the file was closed, its descriptor may belong to another file.
      if (closed) throw new Error(`${path} is closed`);
      const sizeBefore = fstatSync(file).size;
      const text = Buffer.from(`${JSON.stringify(line)}\n`);
      try {
        for (let written = 0; written < text.length; ) written += writeSync(file, text, written);
      } catch (error) {
        ftruncateSync(file, sizeBefore);
        throw error;
      }
    },
    close(): void {
      if (!closed) closeSync(file);
      closed = true;
    },
  };
}

function parseLine(line: string, place: string): JsonObject {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch {
    // The code below reports invalid JSON, as well as JSON that is not an object.
  }
  throw new Error(`${place}: this line of the sandbox's records is damaged; restore it or start with an empty folder`);
}
