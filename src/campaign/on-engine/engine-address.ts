import { CampaignError } from '../../contract/failure.ts';

/**
 * Address of the engine, as given or in `MEDIABATCH_ENGINE`. Never from a `.env`: a file in somebody's branch could name it.
 * Throws MB3705 where it is given and empty, as a variable is that is not set.
 */
export function engineOf(given: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  if (given?.trim() === '')
    throw new CampaignError({
      code: 'MB3705',
      message: '--engine is empty, and names no engine',
      hint: 'leave it out, or give the address of the database: postgres://user@host:5432/database',
    });
  return given ?? (env.MEDIABATCH_ENGINE?.trim() || undefined);
}

/** The same; throws MB3705 where nobody has named one. */
export function requireEngine(
  given: string | undefined,
  env: NodeJS.ProcessEnv,
  { cancels = false }: { cancels?: boolean } = {},
): string {
  const engine = engineOf(given, env);
  if (engine !== undefined) return engine;
  throw new CampaignError({
    code: 'MB3705',
    message: 'no engine is named: neither --engine nor MEDIABATCH_ENGINE is given',
    hint: cancels
      ? 'a run in a process of its own ends there, with Ctrl-C; for one on an engine, give the address of its database: MEDIABATCH_ENGINE=postgres://user@host:5432/database'
      : 'give the address of the database: MEDIABATCH_ENGINE=postgres://user@host:5432/database',
  });
}
