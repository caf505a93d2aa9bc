import { CampaignError } from '../../contract/failure.ts';

/**
 * Returns `--engine` or `MEDIABATCH_ENGINE`. Never reads `.env`, because a git branch could contain one. Throws MB3705
 * if `--engine` is empty.
 */
export function engineOf(given: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  if (given?.trim() === '')
    throw new CampaignError({
      code: 'MB3705',
      message: '--engine is empty, so no engine is selected',
      hint: 'omit --engine, or give the address of the database: postgres://user@host:5432/database',
    });
  return given ?? (env.MEDIABATCH_ENGINE?.trim() || undefined);
}

export function requireEngine(given: string | undefined, env: NodeJS.ProcessEnv): string {
  const engine = engineOf(given, env);
  if (engine !== undefined) return engine;
  throw new CampaignError({
    code: 'MB3705',
    message: 'no engine is selected: neither --engine nor MEDIABATCH_ENGINE is set',
    hint: 'give the address of the database: MEDIABATCH_ENGINE=postgres://user@host:5432/database',
  });
}
