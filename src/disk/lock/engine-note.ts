import { basename, dirname, join } from 'node:path';
import { parseJson } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import { unlinkFile } from '../fs/durable.ts';
import { orAbsent, readSmallFile } from '../fs/plain-file.ts';
import { replaceFile } from '../fs/replace.ts';
import { prepareStateFolder } from '../state/state-folder.ts';

const longestNote = 64 * 1024;

/** File about a run on an engine. The file is deleted when the local lock contains all lines of the run. */
export interface EngineNote {
  run: string;
  /** Address of the engine, without credentials. */
  engine: string;
  account: string;
  /** Time of submission, in ISO 8601. */
  since: string;
  /** True if the engine confirmed the submission. If false, it is unknown whether the engine has the run. */
  submitted: boolean;
}

/**
 * How many of a run's lock lines on the engine a client has read. If the engine later has fewer, its database was
 * restored from an older copy. This file stays when the run's `EngineNote` is deleted or git resets the lock.
 */
interface SeenOnEngine {
  run: string;
  server: string;
  /**
   * `epoch`: epoch of the last line that was read. `lines`: number of lines at the end of that epoch. `jobs`: number of
   * jobs in these lines.
   */
  epoch: string;
  lines: number;
  jobs: number;
}

const note = {
  name: 'engine.json',
  form: { run: 'string', engine: 'string', account: 'string', since: 'string', submitted: 'boolean' },
} as const;
const seen = {
  name: 'engine-seen.json',
  form: { run: 'string', server: 'string', epoch: 'string', lines: 'number', jobs: 'number' },
} as const;

export function readEngineNote(lockPath: string): EngineNote | undefined {
  return readFacts<EngineNote>(lockPath, note);
}

export function readSeenOnEngine(lockPath: string): SeenOnEngine | undefined {
  return readFacts<SeenOnEngine>(lockPath, seen);
}

export function writeEngineNote(lockPath: string, facts: EngineNote): Promise<void> {
  return writeFacts(pathOf(lockPath, note), facts);
}

export function writeSeenOnEngine(lockPath: string, facts: SeenOnEngine): Promise<void> {
  return writeFacts(pathOf(lockPath, seen), facts);
}

export async function removeEngineNote(lockPath: string): Promise<void> {
  await orAbsent(unlinkFile(pathOf(lockPath, note)));
}

function pathOf(lockPath: string, { name }: { name: string }): string {
  return join(dirname(lockPath), '.mediabatch', `${basename(lockPath)}.${name}`);
}

function readFacts<Facts>(
  lockPath: string,
  file: { name: string; form: { [field in keyof Facts]: string } },
): Facts | undefined {
  const facts = parseJson(readSmallFile(pathOf(lockPath, file), longestNote)?.toString('utf8') ?? '');
  const isWhole = isMap(facts) && Object.entries(file.form).every(([field, type]) => typeof facts[field] === type);
  return isWhole ? (facts as Facts) : undefined;
}

async function writeFacts(path: string, facts: EngineNote | SeenOnEngine): Promise<void> {
  await prepareStateFolder(dirname(path));
  await replaceFile(path, `${JSON.stringify(facts)}\n`);
}
