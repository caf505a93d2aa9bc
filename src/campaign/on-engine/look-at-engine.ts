import type { Shown } from '../../cluster/engine-state.ts';
import type { EngineState } from '../../contract/engine-state.ts';

/** Reads runs, accounts and workers of an engine once. Needs no API key. */
export async function lookAtEngine(engine: string, shown?: Shown): Promise<EngineState> {
  const [{ openDatabase }, { checkEngineUrl }, { hasTables }, { readEngineState }] = await Promise.all([
    import('../../cluster/database/database.ts'),
    import('../../cluster/database/engine-url.ts'),
    import('../../cluster/database/schema.ts'),
    import('../../cluster/engine-state.ts'),
  ]);
  const db = await openDatabase(checkEngineUrl(engine), { name: 'mediabatch workers', most: 1 });
  try {
    if (!(await hasTables(db))) return { runs: [], accounts: [], workers: [] };
    return await readEngineState(db, shown);
  } finally {
    await db.close();
  }
}
