import { setTimeout as wait } from 'node:timers/promises';
import type { LockFile } from '../../contract/ports.ts';
import { isMap } from '../../ground/values.ts';
import type { Lock, StepRecord } from '../../lock/record.ts';
import { isJob } from '../../lock/sends.ts';
import type { Sql } from '../database/database.ts';
import { isSameServer, whichServer } from '../database/which-server.ts';
import type { Store } from './store-marker.ts';

/**
 * The least that the record of a run has held, kept beside its files: a database that was put back – from a dump, a snapshot, a
 * replica that was behind – does not know itself that it has lost something.
 */
interface RunMark {
  lines: number;
  jobs: number;
}

export type Marks = Pick<Store, 'readMark' | 'writeMark'>;

/** Lines that come within this time share a mark, in ms. */
const gatherMs = 200;

/** Keeps the mark of a run while its lines are written. */
export class MarkKeeper {
  readonly #marks: Marks;
  readonly #run: string;
  readonly #lock: () => Lock;
  #lines: number;
  #writing: Promise<void> | undefined;

  /** `lines`: how many there are already; `lock`: what they come to. */
  constructor(marks: Marks, { run, lines, lock }: { run: string; lines: number; lock(): Lock }) {
    this.#marks = marks;
    this.#run = run;
    this.#lines = lines;
    this.#lock = lock;
  }

  /** The same lines, and those that are durable are marked soon. */
  keep(file: LockFile): LockFile {
    return {
      ...file,
      append: async (line) => {
        await file.append(line);
        this.#lines += 1;
        this.#writing ??= this.#write();
      },
    };
  }

  /** Resolves when all is marked, or the store takes no marks. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  /** A store that is away has no newer mark than before; the next line tries again. */
  async #write(): Promise<void> {
    for (let marked = -1; marked < this.#lines; ) {
      await wait(gatherMs);
      marked = this.#lines;
      const mark = { mediabatch: 'run-mark', version: 1, lines: marked, jobs: countJobs(this.#lock()) };
      await this.#marks.writeMark(this.#run, `${JSON.stringify(mark)}\n`).catch(() => {});
    }
    this.#writing = undefined;
  }
}

/**
 * Throws when a run's record holds less than its mark says: what is missing would be bought again. Where there is no mark, or
 * none that this process reaches, the database has to be the one in which the record was whole.
 */
export async function refusePutBack(
  sql: Sql,
  marks: Marks | undefined,
  { run, server, lines, lock }: { run: string; server: string | null; lines: number; lock: Lock },
): Promise<void> {
  const text = await marks?.readMark(run);
  const mark = text === undefined ? undefined : readMark(text);
  if (mark === undefined) {
    if (isSameServer(server, await whichServer(sql))) return;
    throw new Error(anotherServerText);
  }
  const jobs = countJobs(lock);
  // Lines that a lock has given back are other lines about the same jobs.
  const isWhole = lines >= mark.lines || (jobs >= mark.jobs && (await hasGivenBack(sql, run)));
  if (isWhole) return; // I46 (mark)
  throw new Error(
    `the database was put back: its record of this run has ${lines} lines about ${jobs} jobs, and had ${mark.lines} about ${mark.jobs}. Nothing is bought before they are known again`,
  );
}

const anotherServerText =
  'the database was put back from a copy, or another server has taken over, and no mark in a store says that nothing of this run is missing. Nothing is bought before the clone that watched it has attached';

/** Lines that were given back by a lock are numbered downwards. */
export const firstGivenBack = -1;

async function hasGivenBack(sql: Sql, run: string): Promise<boolean> {
  return (await sql.query('SELECT FROM mediabatch.line WHERE run = $1 AND no < 0 LIMIT 1', [run])).length > 0;
}

export function countJobs({ steps }: { steps: ReadonlyMap<string, StepRecord> }): number {
  let count = 0;
  for (const { purchases } of steps.values()) count += purchases.filter(isJob).length;
  return count;
}

function readMark(text: string): RunMark {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {}
  const { lines, jobs } = isMap(found as never) ? (found as { lines?: unknown; jobs?: unknown }) : {};
  if (Number.isSafeInteger(lines) && Number.isSafeInteger(jobs)) return { lines, jobs } as RunMark;
  throw new Error('the mark of this run in the store is damaged, so nobody can say whether the database was put back');
}
