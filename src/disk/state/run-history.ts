import { constants, type WriteStream } from 'node:fs';
import { open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { type Json, parseJson } from '../../ground/json.ts';
import { lstatOrAbsent, noFollow, openPlainFile, orAbsent } from '../fs/plain-file.ts';
import { orForgotten } from './caches.ts';
import { hasRealFolders, prepareStateFolder } from './state-folder.ts';

interface HistoryLimits {
  runs: number;
  bytes: number;
}

const historyLimits: HistoryLimits = { runs: 100, bytes: 64 * 1024 ** 2 };

/** Name of a history file: start of the run in UTC, and random characters, as in `2026-11-22-0435-k3f9.jsonl`. */
const runName = /^(\d{4}-\d{2}-\d{2}-\d{4}-[0-9a-hjkmnp-tv-z]{4})\.jsonl$/;
const endBytes = 1 << 18;
const letters = '0123456789abcdefghjkmnpqrstvwxyz';

/** `now`: ms since 1970. `random`: returns a number in [0, 1). */
export function makeRunId(now: number, random: () => number): string {
  const [day, time] = new Date(now).toISOString().split('T');
  const end = Array.from({ length: 4 }, () => letters[Math.floor(random() * letters.length)]);
  return `${day}-${time?.slice(0, 5).replace(':', '')}-${end.join('')}`;
}

interface Lines {
  values: Json[];
  next: number;
  size: number;
}

/** Histories of earlier runs. Histories are only displayed, so a damaged file does no harm. */
export class RunHistory {
  readonly #state: string;
  readonly #folder: string;

  constructor(state: string, folder: string) {
    this.#state = state;
    this.#folder = folder;
  }

  /** Lists the runs, newest first. Returns an empty list if no history is readable. */
  async list(): Promise<{ id: string; bytes: number }[]> {
    const runs = await orForgotten(async () => {
      if (!hasRealFolders(this.#state, this.#folder)) return [];
      const names = await readdir(join(this.#state, this.#folder));
      return names
        .sort()
        .reverse()
        .flatMap((name) => {
          const [, id] = runName.exec(name) ?? [];
          const stats = id === undefined ? undefined : lstatOrAbsent(this.#pathOf(id));
          return id === undefined || stats?.isFile() !== true ? [] : [{ id, bytes: stats.size }];
        });
    });
    return runs ?? [];
  }

  /** Returns the lines of a run, without lines that are not JSON. Returns `undefined` if the file cannot be read. */
  async read(id: string): Promise<Json[] | undefined> {
    return (await this.readFrom(id, 0, 2 * historyLimits.bytes))?.values;
  }

  async readEnds(id: string): Promise<Json[] | undefined> {
    const first = await this.readFrom(id, 0, endBytes);
    if (first === undefined || first.size <= endBytes) return first?.values;
    const last = await this.readFrom(id, Math.max(endBytes, first.size - endBytes), endBytes);
    return [...first.values, ...(last?.values ?? [])];
  }

  /**
   * Reads complete lines from a byte position. `next`: end of the last complete line. Returns `undefined` if the file
   * is unreadable.
   */
  async readFrom(id: string, position: number, most = endBytes): Promise<Lines | undefined> {
    return orForgotten(async () => {
      if (!runName.test(`${id}.jsonl`) || !hasRealFolders(this.#state, this.#folder)) return undefined;
      const handle = await openPlainFile(this.#pathOf(id), constants.O_RDONLY);
      if (handle === undefined) return undefined;
      try {
        const { size } = await handle.stat();
        const buffer = Buffer.alloc(Math.max(0, Math.min(size - position, most)));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
        const end = buffer.lastIndexOf(0x0a, bytesRead - 1) + 1;
        // Skips the bytes if they contain no line end: no run writes a line as long as that.
        const read = end === 0 && bytesRead === most ? bytesRead : end;
        return { values: valuesOfLines(buffer.toString('utf8', 0, end)), next: position + read, size };
      } finally {
        await handle.close();
      }
    });
  }

  /** Removes the oldest history files until one more run fits the limits. Ignores errors of the disk. */
  async prune({ runs, bytes }: HistoryLimits = historyLimits): Promise<void> {
    let count = 1;
    let size = 0;
    for (const run of await this.list()) {
      count += 1;
      size += run.bytes;
      if (count <= runs && size <= bytes) continue;
      await orForgotten(() => orAbsent(unlink(this.#pathOf(run.id))));
    }
  }

  #pathOf(id: string): string {
    return join(this.#state, this.#folder, `${id}.jsonl`);
  }
}

function valuesOfLines(text: string): Json[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return lines.flatMap((line) => parseJson(line) ?? []);
}

/**
 * History of the current run. Lines are written in the background and not synced, so a killed process loses unwritten
 * lines.
 */
export class RunJournal {
  readonly #stream: WriteStream;
  readonly #mostCharacters: number;
  #length = 0;
  /** Number of lines not written because the file had reached its maximum size. */
  dropped = 0;

  private constructor(stream: WriteStream, mostCharacters: number) {
    this.#stream = stream;
    this.#mostCharacters = mostCharacters;
  }

  /**
   * `onLost`: called when writing a line fails for the first time. Later lines are dropped. Rejects if the file cannot
   * be created.
   */
  static async create(
    state: string,
    folder: string,
    { name, mostCharacters, onLost }: { name: string; mostCharacters: number; onLost(error: unknown): void },
  ): Promise<RunJournal> {
    await prepareStateFolder(state, folder);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | noFollow;
    const handle = await open(join(state, folder, name), flags, 0o600);
    return new RunJournal(handle.createWriteStream().on('error', onLost), mostCharacters);
  }

  add(line: string): void {
    if (this.#length + line.length > this.#mostCharacters) {
      this.dropped += 1;
      return;
    }
    this.#length += line.length + 1;
    // Lines that are added during a write are written together by the next write.
    if (this.#stream.writable) this.#stream.write(`${line}\n`);
  }

  /** Writes `last`, even if the file is full, and closes the file. Never rejects. */
  async close(last: string): Promise<void> {
    if (this.#stream.writable) this.#stream.end(`${last}\n`);
    await finished(this.#stream).catch(() => undefined);
  }
}
