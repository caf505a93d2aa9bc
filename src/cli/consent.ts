import { consentRequiredBy } from '../campaign/environment.ts';
import { type Call, call } from '../ground/advice.ts';

/** Whether `--yes` and `--publish` are consent here. `because`: what requires a person to consent. */
export type Consent = { flags: 'count' } | { flags: 'ignored'; because: string };

/**
 * Returns whether the flags are consent in this environment. For sandbox credits, flags of every caller are consent.
 */
export function consentIn(env: NodeJS.ProcessEnv, { sandbox }: { sandbox: boolean }): Consent {
  const because = consentRequiredBy(env);
  return sandbox || because === undefined ? { flags: 'count' } : { flags: 'ignored', because };
}

export function withConsent<Options extends { yes?: boolean | undefined; publish?: boolean | undefined }>(
  options: Options,
  { flags }: Consent,
): Options {
  if (flags === 'count') return options;
  const { yes: _yes, publish: _publish, ...others } = options;
  return others as Options;
}

export function approving(path: string, ...words: string[]): Call {
  return { ...call('approve', path.startsWith('-') ? `./${path}` : path, ...words), bare: true };
}
