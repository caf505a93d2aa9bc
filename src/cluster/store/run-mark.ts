import { setTimeout as wait } from 'node:timers/promises';
import type { LockFile } from '../../contract/ports.ts';
import { parseJson } from '../../ground/json.ts';
import { isMap, mapOf } from '../../ground/values.ts';
import type { Lock, StepRecord } from '../../lock/record.ts';
import { isJob } from '../../lock/sends.ts';
import type { Sql } from '../database/database.ts';
import { isNotOffered } from '../database/server-errors.ts';
import type { Store } from './store-marker.ts';

/** Number of a run's lock lines and jobs, stored with its files. A database restored from a backup has fewer. */
interface RunMark {
  lines: number;
  jobs: number;
}

export type Marks = Pick<Store, 'readMark' | 'writeMark'>;

const gatherMs = 200;

/**
 * Wraps a run's lock file: each append updates the run's mark in the store. `lines`: number of existing lines. `idle`
 * resolves when the mark is up to date or the store is unavailable.
 */
export function keepMark(
  file: LockFile,
  marks: Marks,
  { run, lines, lock }: { run: string; lines: number; lock(): Lock },
): LockFile & { idle(): Promise<void> } {
  let count = lines;
  let writing: Promise<void> | undefined;
  // After an error, the next append writes the mark again.
  const write = async () => {
    for (let marked = -1; marked < count; ) {
      await wait(gatherMs);
      marked = count;
      const mark = { mediabatch: 'run-mark', version: 1, lines: marked, jobs: countJobs(lock()) };
      await marks.writeMark(run, `${JSON.stringify(mark)}\n`).catch(() => {});
    }
    writing = undefined;
  };
  return {
    ...file,
    async append(line) {
      await file.append(line);
      count += 1;
      writing ??= write();
    },
    idle: async () => writing,
  };
}

/**
 * Throws if the database has fewer lines or jobs of a run than the run's mark. Without a mark, throws unless `server`
 * is this database.
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
  // A client that restores the lines from a local lock may send fewer lines about the same jobs.
  const isWhole = lines >= mark.lines || (jobs >= mark.jobs && (await hasSentRecords(sql, run)));
  if (isWhole) return; // I46 (mark)
  throw new Error(
    `the database was restored from an older copy: its record of this run has ${lines} lines about ${jobs} jobs, and had ${mark.lines} lines about ${mark.jobs} jobs. Nothing is bought until the missing records are restored`,
  );
}

const anotherServerText =
  'the database was restored from a copy, or another server took over, and no store confirms that the record of this run is complete. Nothing is bought until the clone that watched this run attaches to the run';

async function hasSentRecords(sql: Sql, run: string): Promise<boolean> {
  return (await sql.query('SELECT FROM mediabatch.line WHERE run = $1 AND no < 0 LIMIT 1', [run])).length > 0;
}

export function countJobs({ steps }: { steps: ReadonlyMap<string, StepRecord> }): number {
  let count = 0;
  for (const { purchases } of steps.values()) count += purchases.filter(isJob).length;
  return count;
}

function readMark(text: string): RunMark {
  const { lines, jobs } = mapOf(parseJson(text));
  if (Number.isSafeInteger(lines) && Number.isSafeInteger(jobs)) return { lines, jobs } as RunMark;
  throw new Error(
    'the mark of this run in the store is damaged, so it is unknown whether the database was restored from an older copy',
  );
}

/**
 * Returns the identity of a database. A restored dump, another server and a promoted replica have a new identity; a
 * restored volume snapshot has the old one.
 */
export async function whichServer(sql: Sql): Promise<string> {
  // Reads the timeline from the WAL position, because the control file contains it only after the next checkpoint.
  const [timeline, system, tables] = await Promise.all([
    askFor(sql, 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'),
    askFor(sql, '(SELECT system_identifier::text FROM pg_control_system())'),
    askFor(sql, "'mediabatch.run'::regclass::oid::text"),
  ]);
  return JSON.stringify({ system, timeline, tables });
}

async function askFor(sql: Sql, fact: string): Promise<string | undefined> {
  try {
    const [row] = await sql.query<{ fact: string }>(`SELECT ${fact} AS fact`);
    return row?.fact;
  } catch (error) {
    if (isNotOffered(error)) return undefined;
    throw error;
  }
}

export function isSameServer(one: string | null, other: string): boolean {
  const [known, now] = [parseJson(one ?? 'null'), parseJson(other)];
  if (!isMap(known) || !isMap(now)) return false;
  return Object.entries(known).every(([part, value]) => now[part] === undefined || now[part] === value); // I46 (server)
}
