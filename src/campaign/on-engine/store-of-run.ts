import type { Engine } from '../../cluster/open-engine.ts';
import type { Store, StoreFiles } from '../../cluster/store.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { OpenCampaign } from '../open-campaign.ts';

/** Throws MB3705 before anything is agreed to, unless it is a store or may become one. */
export async function checkStore(name: string): Promise<void> {
  await findStore(name);
}

/** Finds the store of this name. Undefined: there is none at its place yet. */
async function findStore(name: string): Promise<Store | undefined> {
  const [{ openStore }, { StoreMissingError }] = await Promise.all([
    import('../../cluster/store.ts'),
    import('../../cluster/store-marker.ts'),
  ]);
  return openStore(name, { makes: false }).catch((error: unknown) => {
    if (error instanceof StoreMissingError) return undefined;
    throw error;
  });
}

export async function makeStore(name: string): Promise<Store> {
  const { openStore } = await import('../../cluster/store.ts');
  return openStore(name, { makes: true });
}

/**
 * Where the files of a run are brought from; undefined: they come here by themselves, or stay where they are. Throws MB3705 for another store than the
 * run's.
 */
export async function storeOfRun(
  run: { id: string; campaign: string },
  { engine, name, tell }: { engine: Engine; name: string | undefined; tell: OpenCampaign['tell'] },
): Promise<StoreFiles | undefined> {
  const { readRun } = await import('../../cluster/runs.ts');
  const record = await readRun(engine.database, run.id);
  if (record === undefined) return undefined;
  if (record.store === null) {
    if (name !== undefined)
      tell({
        is: 'notice',
        text: 'that run was submitted without --store: its files are saved here, while this watches',
      });
    return undefined;
  }
  if (name === undefined) {
    tell({ is: 'notice', text: 'no --store is given: files that workers put into the store of that run stay there' });
    return undefined;
  }
  const store = await findStore(name);
  if (store?.id === record.store) return store.filesOf(run.campaign);
  throw new CampaignError({
    code: 'MB3705',
    message: `the store ${name} is not that of the run, which was submitted with another --store`,
    hint: 'give that one; without --store the run is watched, and a later `apply` fetches its files. Nothing was sent',
  });
}
