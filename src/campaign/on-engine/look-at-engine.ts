import { join, resolve } from 'node:path';
import type { EngineState } from '../../contract/engine-state.ts';
import { CampaignError } from '../../contract/failure.ts';

/** Runs, accounts and workers of an engine, once. Needs no key. `embedded`: the one of this folder. */
export async function lookAtEngine(named: string): Promise<EngineState> {
  const engine = named === 'embedded' ? await embeddedHere() : named;
  const [{ openDatabase }, { checkEngineUrl }, { hasTables }, { readEngineState }] = await Promise.all([
    import('../../cluster/database/database.ts'),
    import('../../cluster/database/engine-url.ts'),
    import('../../cluster/database/schema.ts'),
    import('../../cluster/engine-state.ts'),
  ]);
  const db = await openDatabase(checkEngineUrl(engine), { name: 'mediabatch workers', most: 1 });
  try {
    if (!(await hasTables(db))) return { runs: [], accounts: [], workers: [] };
    return await readEngineState(db);
  } finally {
    await db.close();
  }
}

/** Address of the server that an `apply` in this folder has started. Throws MB3702. */
async function embeddedHere(): Promise<string> {
  const { findEmbedded } = await import('../../cluster/database/embedded.ts');
  const folder = join('.mediabatch', 'engine');
  const url = await findEmbedded(resolve(folder));
  if (url !== undefined) return url;
  throw new CampaignError({
    code: 'MB3702',
    message: `no embedded engine runs in ${folder}`,
    hint: 'it runs as long as the `apply --engine embedded` that started it: look meanwhile, in the folder of its manifest',
  });
}
