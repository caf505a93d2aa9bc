import {
  appendFileSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { isObject, type JsonObject } from './wire.ts';

/** An append-only file of JSON objects, one on each line. */
export interface Lines {
  /** Those that were there when it was opened. */
  readonly lines: readonly JsonObject[];
  /** Throws when the line could not be written; then nothing of it is left in the file. */
  append(line: JsonObject): void;
  close(): void;
}

/** Throws when a line in the middle is damaged. */
export function openLines(path: string): Lines {
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
    // Reported below, together with lines that are JSON but not an object.
  }
  throw new Error(`${place}: this line of the sandbox's records is damaged; restore it or start with an empty folder`);
}
