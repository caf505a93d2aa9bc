import { CampaignError } from '../contract/failure.ts';
import { type Call, call } from '../ground/advice.ts';

/** Variables by which programs that type commands in a person's place make themselves known. */
export const programVariables = [
  'AI_AGENT',
  'AGENT',
  'AUGMENT_AGENT',
  'CLAUDECODE',
  'CLAUDE_CODE',
  'CLINE_ACTIVE',
  'CODEX_CI',
  'CODEX_SANDBOX',
  'CODEX_THREAD_ID',
  'CURSOR_AGENT',
  'GEMINI_CLI',
  'GOOSE_TERMINAL',
  'OPENCODE',
  'QWEN_CODE',
] as const;

/** The variable by which a program has made itself known here. */
export function programIn(env: NodeJS.ProcessEnv): string | undefined {
  return programVariables.find((name) => (env[name] ?? '') !== '');
}

/** Whether `--yes` and `--publish` are consent here. `because`: what says that only a person's own act is. */
export type Consent = { flags: 'count' } | { flags: 'ignored'; because: string };

/** Who consents to credits and posts in this environment. Play money takes the flags from everybody. */
export function consentIn(env: NodeJS.ProcessEnv, { sandbox }: { sandbox: boolean }): Consent {
  const wanted = env.MEDIABATCH_CONSENT?.trim() ?? '';
  // A word that was misspelt must not be taken for none.
  if (wanted !== '' && wanted !== 'person') {
    throw new CampaignError({
      code: 'MB3003',
      message: `MEDIABATCH_CONSENT is ${JSON.stringify(wanted)}, and knows person only`,
      value: wanted,
      known: ['person'],
      hint: 'set it to person, so that --yes and --publish count for nothing, or take it away',
    });
  }
  if (sandbox) return { flags: 'count' };
  if (wanted === 'person') return { flags: 'ignored', because: 'MEDIABATCH_CONSENT is person' };
  const set = programIn(env);
  return set === undefined
    ? { flags: 'count' }
    : { flags: 'ignored', because: `${set} says that a program is at the keys` };
}

/** The options as far as they count. */
export function withConsent<Options extends { yes?: boolean | undefined; publish?: boolean | undefined }>(
  options: Options,
  { flags }: Consent,
): Options {
  if (flags === 'count') return options;
  const { yes: _yes, publish: _publish, ...others } = options;
  return others as Options;
}

/** `approve` for a plan of this path. */
export function approving(path: string): Call {
  return { ...call('approve', path.startsWith('-') ? `./${path}` : path), bare: true };
}
