import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineNote } from '../../disk/lock/engine-note.ts';
import { nameOfEngine } from '../hold-guard.ts';
import { engineOf } from './engine-address.ts';

/** Whether the engine of a note can be asked, and has its run open. Throws MB3702 when it answers, and cannot be asked. An embedded one is there as long as its folder is. */
export async function isOpenOnEngine(
  { engine, run }: EngineNote,
  { state, env }: { state: string; env: NodeJS.ProcessEnv },
): Promise<boolean> {
  if (nameOfEngine(engine) === 'embedded') return existsSync(join(state, 'engine'));
  const { showEngine } = await import('../../cluster/engine-url.ts');
  const { openDatabase } = await import('../../cluster/database.ts');
  const { readRun } = await import('../../cluster/runs.ts');
  const named = engineOf(undefined, env);
  // The note has no password, which the environment may have.
  const url = named !== undefined && showEngine(named) === engine ? named : engine;
  try {
    const db = await openDatabase(url, { name: 'mediabatch-unlock', most: 1 });
    try {
      return (await readRun(db, run))?.state === 'open';
    } finally {
      await db.close();
    }
  } catch (error) {
    // It is there, and only does not let us in, or not now: it may well have the run open.
    if (hasAnswered(error)) throw error;
    return false;
  }
}

/** No database of that name, no tables of ours in it: an engine that was made anew. */
const gone = new Set(['3D000', '3F000', '42P01']);

/** A server that says anything else – no, not yet, too many – is there. */
function hasAnswered(error: unknown): boolean {
  const { code } = ((error as Error | undefined)?.cause ?? error ?? {}) as NodeJS.ErrnoException;
  return code !== undefined && /^[0-9][0-9A-Z]{4}$|^[A-Z]{2}[0-9]{3}$/.test(code) && !gone.has(code);
}
