import { CampaignError } from '../contract/failure.ts';

/** Variables by which automated callers identify themselves. */
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

function programIn(env: NodeJS.ProcessEnv): string | undefined {
  return programVariables.find((name) => (env[name] ?? '') !== '');
}

/** Returns why a user must consent in person, or undefined if a flag is enough. Throws MB3000 for a wrong value. */
export function consentRequiredBy(env: NodeJS.ProcessEnv): string | undefined {
  const wanted = env.MEDIABATCH_CONSENT?.trim() ?? '';
  // A misspelt value must not switch the check off.
  if (wanted !== '' && wanted !== 'person') {
    throw new CampaignError({
      code: 'MB3000',
      message: `MEDIABATCH_CONSENT is ${JSON.stringify(wanted)}; the only allowed value is person`,
      value: wanted,
      known: ['person'],
      hint: 'set it to person, which disables --yes and --publish, or unset it',
    });
  }
  if (wanted === 'person') return 'MEDIABATCH_CONSENT is person';
  const set = programIn(env);
  return set === undefined ? undefined : `${set} marks the caller as an agent`;
}
