/** Versions of the tables before and after the migration; 0 if there were none. */
export interface Migrated {
  before: number;
  now: number;
}

/**
 * Creates the tables of an engine, or migrates them to this version. `grantTo`: a role that gets the right to use them.
 */
export async function migrateEngine(engine: string, grantTo: string | undefined): Promise<Migrated> {
  const [{ openDatabase }, { checkEngineUrl }, { migrate, grant }, { openBoss }] = await Promise.all([
    import('../../cluster/database/database.ts'),
    import('../../cluster/database/engine-url.ts'),
    import('../../cluster/database/schema.ts'),
    import('../../cluster/database/boss.ts'),
  ]);
  const db = await openDatabase(checkEngineUrl(engine), { name: 'mediabatch engine migrate', most: 2 });
  try {
    const migrated = await migrate(db);
    const boss = await openBoss(db);
    await boss.stop({ graceful: false });
    if (grantTo !== undefined) await grant(db, grantTo);
    return migrated;
  } finally {
    await db.close();
  }
}
