import { basename, dirname, join } from 'node:path';
import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import { unlinkFile } from '../fs/durable.ts';
import { orAbsent, readSmallFile } from '../fs/plain-file.ts';
import { replaceFile } from '../fs/replace.ts';
import { prepareStateFolder } from '../state/state-folder.ts';

const longestNote = 64 * 1024;

/** A run of this campaign that an engine carries out, and whose lines are not all in this lock yet. */
export interface EngineNote {
  run: string;
  /** Address of the engine, without credentials. */
  engine: string;
  account: string;
  /** Time of submission, in ISO 8601. */
  since: string;
  /** False until the submission succeeded. Until then it is unknown whether the engine has the run. */
  submitted: boolean;
}

/**
 * Minimum progress of a run's record that an attached client has seen. It remains after the note is removed and the
 * lock was reset by git, so that an older copy of the engine's database is detected.
 */
interface SeenOnEngine {
  run: string;
  server: string;
  /** Last known epoch of the record; `lines`: number of lines up to its end; `jobs`: number of jobs known with them. */
  epoch: string;
  lines: number;
  jobs: number;
}

function notePath(lockPath: string): string {
  return besideLock(lockPath, 'engine.json');
}

function seenPath(lockPath: string): string {
  return besideLock(lockPath, 'engine-seen.json');
}

function besideLock(lockPath: string, name: string): string {
  return join(dirname(lockPath), '.mediabatch', `${basename(lockPath)}.${name}`);
}

/** Reads the note about an engine; `undefined` if there is none, or it is invalid. */
export function readEngineNote(lockPath: string): EngineNote | undefined {
  const { run, engine, account, since, submitted } = readFacts(notePath(lockPath)) ?? {};
  const words = [run, engine, account, since];
  if (!words.every((word) => typeof word === 'string') || typeof submitted !== 'boolean') return undefined;
  return { run, engine, account, since, submitted } as EngineNote;
}

/** Reads the last seen progress; `undefined` if none was recorded, or it is invalid. */
export function readSeenOnEngine(lockPath: string): SeenOnEngine | undefined {
  const { run, server, epoch, lines, jobs } = readFacts(seenPath(lockPath)) ?? {};
  const words = [run, server, epoch];
  const isWhole = words.every((word) => typeof word === 'string') && [lines, jobs].every(Number.isSafeInteger);
  return isWhole ? ({ run, server, epoch, lines, jobs } as SeenOnEngine) : undefined;
}

/** Writes the note; durable when it resolves. */
export function writeEngineNote(lockPath: string, note: EngineNote): Promise<void> {
  return writeFacts(notePath(lockPath), note);
}

export function writeSeenOnEngine(lockPath: string, seen: SeenOnEngine): Promise<void> {
  return writeFacts(seenPath(lockPath), seen);
}

function readFacts(path: string): { readonly [name: string]: unknown } | undefined {
  const bytes = readSmallFile(path, longestNote);
  try {
    const facts = JSON.parse(bytes?.toString('utf8') ?? 'null') as Json;
    return isMap(facts) ? facts : undefined;
  } catch {
    return undefined;
  }
}

async function writeFacts(path: string, facts: EngineNote | SeenOnEngine): Promise<void> {
  await prepareStateFolder(dirname(path));
  await replaceFile(path, `${JSON.stringify(facts)}\n`);
}

export async function removeEngineNote(lockPath: string): Promise<void> {
  await orAbsent(unlinkFile(notePath(lockPath)));
}
