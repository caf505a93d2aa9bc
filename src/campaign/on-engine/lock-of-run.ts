import type { Sql } from '../../cluster/database.ts';
import { readLock } from '../../lock/read.ts';
import { type Lock, lockVersion } from '../../lock/record.ts';

/** The fold of all lines of a run on an engine. */
export async function lockOfRun(database: Sql, run: string): Promise<Lock> {
  const { readLines } = await import('../../cluster/lines.ts');
  const texts = [`{"mediabatch":"lock","version":${lockVersion}}\n`];
  for (let after: string | undefined; ; ) {
    const { lines, next } = await readLines(database, run, after);
    if (lines.length === 0) break;
    texts.push(...lines);
    after = next;
  }
  return readLock(`the lock of run ${run}`, Buffer.from(texts.join(''))).lock;
}
