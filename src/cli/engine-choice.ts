import { engineOf } from '../campaign/on-engine/engine-address.ts';
import type { EngineChoice } from '../campaign/run.ts';
import { CampaignError } from '../contract/failure.ts';
import type { ApplyOptions } from './open.ts';

/** Returns the engine of a run. The address in the environment is for real runs, not for rehearsals. Throws MB3000. */
export function engineFor({ engine, store, sandbox }: ApplyOptions): EngineChoice | undefined {
  const url = engineOf(engine, sandbox === true ? {} : process.env);
  if (url !== undefined) return { url, store };
  if (store === undefined) return undefined;
  // Without an engine, files that the user expects in the store would be saved on this machine only.
  throw new CampaignError({
    code: 'MB3000',
    message: '--store needs an engine: without one, files are saved next to the manifest',
    hint:
      sandbox === true
        ? 'remove --store: --sandbox runs on this machine (MEDIABATCH_ENGINE is for real runs)'
        : 'remove --store, or name the engine: MEDIABATCH_ENGINE=postgres://user@host:5432/database',
    options: ['--store', '--engine'],
  });
}
