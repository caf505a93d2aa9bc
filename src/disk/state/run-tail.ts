import type { FileHandle } from 'node:fs/promises';
import type { Json } from '../../ground/json.ts';

const pieceBytes = 1 << 18;
/** A line that is longer is nothing that a run has written. */
const mostLineBytes = 1 << 22;

/** Reads a file of lines while it grows. */
export class RunTail {
  readonly #handle: FileHandle;
  #position = 0;
  /** The beginning of a line whose end is not written yet. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Values of the lines since the last call, without those that are no JSON; at most a quarter of a MiB of them. */
  async more(): Promise<Json[]> {
    const buffer = Buffer.alloc(pieceBytes);
    const { bytesRead } = await this.#handle.read(buffer, 0, pieceBytes, this.#position);
    if (bytesRead === 0) return [];
    this.#position += bytesRead;
    const bytes = Buffer.concat([this.#rest, buffer.subarray(0, bytesRead)]);
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.#rest = bytes.length - end > mostLineBytes ? Buffer.alloc(0) : bytes.subarray(end);
    return valuesOfLines(bytes.toString('utf8', 0, end));
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** Half a line, or one that somebody else has written, is left out. */
export function valuesOfLines(text: string): Json[] {
  const values: Json[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('{')) continue;
    try {
      values.push(JSON.parse(line) as Json);
    } catch {
      // Left out.
    }
  }
  return values;
}
