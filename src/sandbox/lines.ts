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

export interface Lines {
  readonly lines: readonly JsonObject[];
  append(line: JsonObject): void;
  close(): void;
}

export function openLines(path: string): Lines {
  // Creates a missing file now, so that an append needs no check.
  appendFileSync(path, '');
  const bytes = readFileSync(path);
  const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
  // A process that was killed while writing leaves a partial line. It was never answered, so it is removed.
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
      // After closing, the file descriptor may belong to another file.
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
    // Reported below, together with JSON that is not an object.
  }
  throw new Error(`${place}: this line of the sandbox's records is damaged; restore it or start with an empty folder`);
}
