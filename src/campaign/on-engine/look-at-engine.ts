import type { EngineState } from '../../contract/engine-state.ts';

/** Runs, accounts and workers of an engine, once. Needs no key. */
export async function lookAtEngine(engine: string): Promise<EngineState> {
  const [{ openDatabase }, { checkEngineUrl }, { migrate }, { readEngineState }] = await Promise.all([
    import('../../cluster/database.ts'),
    import('../../cluster/engine-url.ts'),
    import('../../cluster/schema.ts'),
    import('../../cluster/engine-state.ts'),
  ]);
  const db = await openDatabase(checkEngineUrl(engine), { name: 'mediabatch workers', most: 1 });
  try {
    await migrate(db);
    return await readEngineState(db);
  } finally {
    await db.close();
  }
}
