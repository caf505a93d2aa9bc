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
 * State on disk: two append-only files, `ledger.jsonl` (one line per accepted create) and `deleted.jsonl`. A line is
 * written synchronously before its answer is sent, so whoever got an answer finds it in the file, whatever is killed when.
 */
export interface Journal {
  readonly ledger: readonly JsonObject[];
  readonly deleted: readonly JsonObject[];
  /** Throws when the line could not be written; then nothing of it is left in the file. */
  appendLedger(line: JsonObject): void;
  appendDeleted(line: JsonObject): void;
  close(): void;
}

/** Folders that sandboxes of this process have open: a pid file with our own pid says nothing about them. */
const openHere = new Set<string>();

/** Throws when another sandbox uses the folder, or when a line in the middle of a file is damaged. */
export function openJournal(path: string): Journal {
  const folder = resolve(path);
  mkdirSync(folder, { recursive: true });
  const pidFile = join(folder, 'sandbox.pid');
  claim(folder, pidFile);
  try {
    const ledger = openLines(join(folder, 'ledger.jsonl'));
    const deleted = openLines(join(folder, 'deleted.jsonl'));
    return {
      ledger: ledger.lines,
      deleted: deleted.lines,
      appendLedger: ledger.append,
      appendDeleted: deleted.append,
      close() {
        ledger.close();
        deleted.close();
        release(folder, pidFile);
      },
    };
  } catch (error) {
    release(folder, pidFile);
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
      throw new Error(
        `the sandbox folder ${folder} is in use by the process ${holder}; stop it, or take another folder (if no sandbox runs there, delete ${pidFile})`,
      );
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

/** Dead, but not yet waited for by its parent: such a process still takes signals. Known on Linux only. */
function isZombie(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && /\) Z /.test(readFileSync(path, 'utf8'));
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function openLines(path: string) {
  // Made here when missing, so that the first append is only an append.
  appendFileSync(path, '');
  const bytes = readFileSync(path);
  const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
  // A process killed in the middle of a write leaves half a line; it was never answered, so it is cut.
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
      // The number of a closed file may belong to another file by now.
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
    // Told below, together with what is JSON but not an object.
  }
  throw new Error(`${place}: this line of the sandbox's records is damaged; restore it or start with an empty folder`);
}
