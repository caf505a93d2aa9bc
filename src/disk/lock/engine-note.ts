import { basename, dirname, join } from 'node:path';
import { unlinkFile } from '../fs/durable.ts';
import { orAbsent, readSmallFile } from '../fs/plain-file.ts';
import { replaceFile } from '../fs/replace.ts';
import { prepareStateFolder } from '../state/state-folder.ts';

const longestNote = 64 * 1024;

/** A run of this campaign that an engine carries out, and whose lines are not all in this lock yet. */
export interface EngineNote {
  /** Id of the run. */
  run: string;
  /** Address of the engine, without what signs in. */
  engine: string;
  /** Digest of the account. */
  account: string;
  /** When it was submitted, ISO 8601. */
  since: string;
  /** Until it is, nobody knows whether the engine has the run. */
  submitted: boolean;
}

function notePath(lockPath: string): string {
  return join(dirname(lockPath), '.mediabatch', `${basename(lockPath)}.engine.json`);
}

/** Reads the note about an engine. Undefined where there is none, or what is there is not one. */
export function readEngineNote(lockPath: string): EngineNote | undefined {
  const bytes = readSmallFile(notePath(lockPath), longestNote);
  if (bytes === undefined) return undefined;
  try {
    const { run, engine, account, since, submitted } = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
    const words = [run, engine, account, since];
    if (!words.every((word) => typeof word === 'string') || typeof submitted !== 'boolean') return undefined;
    return { run, engine, account, since, submitted } as EngineNote;
  } catch {
    return undefined;
  }
}

/** Durable when it resolves. */
export async function writeEngineNote(lockPath: string, note: EngineNote): Promise<void> {
  const path = notePath(lockPath);
  await prepareStateFolder(dirname(path));
  await replaceFile(path, `${JSON.stringify(note)}\n`);
}

export async function removeEngineNote(lockPath: string): Promise<void> {
  await orAbsent(unlinkFile(notePath(lockPath)));
}
