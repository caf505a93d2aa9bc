import { fileURLToPath } from 'node:url';
import type { EngineChoice } from '../campaign/apply-options.ts';
import { engineOf } from '../campaign/on-engine/engine-address.ts';
import { CampaignError } from '../contract/failure.ts';
import type { ApplyOptions } from './open.ts';

/** In a rehearsal only one that was asked for: the address in the environment is for real runs. Throws MB3001. */
export function engineFor({ engine, store, sandbox, workers }: ApplyOptions): EngineChoice | undefined {
  const url = engineOf(engine, sandbox === true ? {} : process.env);
  if (url === undefined) {
    if (store !== undefined) refuseStore(sandbox);
    if (workers === undefined) return undefined;
    throw new CampaignError({
      code: 'MB3001',
      message: '--workers goes with --engine embedded only',
      hint: 'one machine needs no workers: leave it out, or add --engine embedded',
      options: ['--workers', '--engine'],
    });
  }
  const count = workers ?? (url === 'embedded' ? 1 : undefined);
  if (count === undefined) return { url, store };
  const command = [process.execPath, fileURLToPath(new URL('./bin.js', import.meta.url)), 'worker'] as const;
  return { url, store, workers: { count, command, env: process.env } };
}

/** Files that somebody expects in a store would be saved here alone. */
function refuseStore(sandbox: boolean | undefined): never {
  throw new CampaignError({
    code: 'MB3001',
    message: '--store goes with an engine, and none is named: without one, files are saved beside the manifest',
    hint:
      sandbox === true
        ? 'leave it out, or add --engine embedded (MEDIABATCH_ENGINE is for real runs)'
        : 'leave it out, or name the engine: MEDIABATCH_ENGINE=postgres://user@host:5432/database',
    options: ['--store', '--engine'],
  });
}
